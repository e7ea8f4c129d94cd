/* page_labs.h - the parts of a class's page that go lab by lab. */
#ifndef GRADEBOOK_REPORT_PAGE_LABS_H
#define GRADEBOOK_REPORT_PAGE_LABS_H

#include "gradebook/report/formats.h"
#include "gradebook/report/markup.h"

void put_labs(Export *export, Page *page);     /* a line a lab: how many passed, how fast */
void put_speeds(Export *export, Page *page);   /* charts */
void put_failures(Export *export, Page *page); /* what went wrong most often */

#endif
