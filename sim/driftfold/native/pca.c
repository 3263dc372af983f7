/* All kernels of PCA for one rank R, in one unit: what they share is compiled once. */
#include "pca_dual.c"
#include "pca_gram.c"
#include "pca_rows.c"
