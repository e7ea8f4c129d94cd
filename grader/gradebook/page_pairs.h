/* page_pairs.h - the part of a class's page about kernels that are the same, or alike. */
#ifndef PAGE_PAIRS_H
#define PAGE_PAIRS_H

#include "formats.h"
#include "markup.h"

void put_pairs(Export *export, Page *page);

#endif
