/* page_labs.h - the parts of the class's page that show data per lab. */
#ifndef GRADEBOOK_REPORT_PAGE_LABS_H
#define GRADEBOOK_REPORT_PAGE_LABS_H

#include "gradebook/report/formats.h"
#include "gradebook/report/markup.h"

void put_labs(Export *export, Page *page);     /* one row per lab: how many passed, how fast */
void put_speeds(Export *export, Page *page);   /* charts */
void put_failures(Export *export, Page *page); /* the most frequent failures */

#endif
