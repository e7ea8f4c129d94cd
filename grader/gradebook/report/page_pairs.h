/* page_pairs.h - the part of the class's page about identical and similar kernels. */
#ifndef GRADEBOOK_REPORT_PAGE_PAIRS_H
#define GRADEBOOK_REPORT_PAGE_PAIRS_H

#include "gradebook/report/formats.h"
#include "gradebook/report/markup.h"

void put_pairs(Export *export, Page *page);

#endif
