/* Algebra of r x r matrices, in double whatever REAL is: it costs little beside d-long rows. */
#ifndef DRIFTFOLD_SMALL_MATRIX_H
#define DRIFTFOLD_SMALL_MATRIX_H

#include "lanes.h"

/* c = L^-1, lower triangular, of gram = L L^T (lower triangle given).
 *
 * Returns trace(gram) trace(gram^-1), about r (r + |U|^2) for the Gram matrix of X + U: how much
 * accuracy one pass of Cholesky's QR factorisation loses. NaN where gram is not positive definite.
 */
INLINE double inverse_cholesky(const double gram[R][R], double c[R][R]) {
    double l[R][R], trace = 0, inverse = 0;
    UNROLLED for (int j = 0; j < R; j++) {
        double s = gram[j][j];
        UNROLLED for (int q = 0; q < j; q++) s -= l[j][q] * l[j][q];
        c[j][j] = 1 / sqrt(s);
        UNROLLED for (int a = j + 1; a < R; a++) {
            double t = gram[a][j];
            UNROLLED for (int q = 0; q < j; q++) t -= l[a][q] * l[j][q];
            l[a][j] = t * c[j][j];
        }
    }
    UNROLLED for (int a = 0; a < R; a++)
        UNROLLED for (int b = 0; b < R; b++) {
            if (b > a) c[a][b] = 0;
            if (b >= a) continue;
            double t = 0;
            UNROLLED for (int q = b; q < a; q++) t -= l[a][q] * c[q][b];
            c[a][b] = t * c[a][a];
        }
    UNROLLED for (int a = 0; a < R; a++) {
        trace += gram[a][a];
        UNROLLED for (int b = 0; b <= a; b++) inverse += c[a][b] * c[a][b];
    }
    return trace * inverse;
}

/* c = gram^(-1/2) by Jacobi's rotations; returns what inverse_cholesky returns. */
APART double inverse_root(const double gram[R][R], double c[R][R]) {
    double a[R][R], q[R][R], trace = 0, inverse = 0;
    for (int i = 0; i < R; i++)
        for (int j = 0; j < R; j++) {
            a[i][j] = i >= j ? gram[i][j] : gram[j][i];
            q[i][j] = i == j;
        }
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0, on = 0;
        for (int i = 0; i < R; i++)
            for (int j = 0; j <= i; j++) *(i == j ? &on : &off) += a[i][j] * a[i][j];
        if (!(off > 1e-34 * on)) break;
        for (int i = 1; i < R; i++)
            for (int j = 0; j < i; j++) {
                if (a[i][j] == 0) continue;
                double z = (a[j][j] - a[i][i]) / (2 * a[i][j]);
                double t = (z < 0 ? -1 : 1) / (fabs(z) + sqrt(1 + z * z));
                double cosine = 1 / sqrt(1 + t * t), sine = cosine * t;
                for (int k = 0; k < R; k++) {
                    double x = a[k][i], y = a[k][j];
                    a[k][i] = cosine * x - sine * y;
                    a[k][j] = sine * x + cosine * y;
                    x = q[k][i], y = q[k][j];
                    q[k][i] = cosine * x - sine * y;
                    q[k][j] = sine * x + cosine * y;
                }
                for (int k = 0; k < R; k++) {
                    double x = a[i][k], y = a[j][k];
                    a[i][k] = cosine * x - sine * y;
                    a[j][k] = sine * x + cosine * y;
                }
            }
    }
    for (int i = 0; i < R; i++)
        for (int j = 0; j < R; j++) {
            c[i][j] = 0;
            for (int k = 0; k < R; k++) c[i][j] += q[i][k] * q[j][k] / sqrt(a[k][k]);
        }
    for (int k = 0; k < R; k++) trace += a[k][k], inverse += 1 / a[k][k];
    return trace * inverse;
}

#endif
