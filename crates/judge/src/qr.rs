//! Least squares by Householder reflections.

/// The solution of a least-squares problem.
pub(crate) struct LeastSquares {
    /// One coefficient per column.
    pub(crate) coefficients: Vec<f64>,
    /// The diagonal of the inverse of X'X: variances in units of the residual's.
    pub(crate) unscaled_variances: Vec<f64>,
    /// The sum of the squared residuals.
    pub(crate) residual_squares: f64,
}

/// Minimises |y - X b|, X by columns with at least as many rows as columns.
/// `None` if the columns are linearly dependent to working precision.
pub(crate) fn least_squares(mut x: Vec<Vec<f64>>, y: &[f64]) -> Option<LeastSquares> {
    let (n, p) = (y.len(), x.len());
    let mut y = y.to_vec();
    let largest = x.iter().map(|c| norm(c)).fold(0.0, f64::max);
    let mut diagonal = Vec::with_capacity(p);
    for k in 0..p {
        let length = norm(&x[k][k..]);
        if length <= 1e-12 * largest {
            return None;
        }
        let pivot = if x[k][k] > 0.0 { -length } else { length };
        let mut v = x[k][k..].to_vec();
        v[0] -= pivot;
        let scale = 2.0 / v.iter().map(|e| e * e).sum::<f64>();
        for column in x.iter_mut().skip(k + 1) {
            reflect(&v, scale, &mut column[k..]);
        }
        reflect(&v, scale, &mut y[k..]);
        diagonal.push(pivot);
    }
    let r = |i: usize, j: usize| if i == j { diagonal[i] } else { x[j][i] };
    let coefficients = back_substitute(p, &r, y[..p].to_vec());
    let mut unscaled_variances = vec![0.0; p];
    for j in 0..p {
        // The j-th column of the inverse of R; its squares are summed by rows.
        let mut unit = vec![0.0; p];
        unit[j] = 1.0;
        for (sum, e) in unscaled_variances
            .iter_mut()
            .zip(back_substitute(p, &r, unit))
        {
            *sum += e * e;
        }
    }
    Some(LeastSquares {
        coefficients,
        unscaled_variances,
        residual_squares: y[p..n].iter().map(|e| e * e).sum(),
    })
}

fn norm(v: &[f64]) -> f64 {
    v.iter().map(|e| e * e).sum::<f64>().sqrt()
}

/// Applies the reflection I - scale v v' to `target`.
fn reflect(v: &[f64], scale: f64, target: &mut [f64]) {
    let dot: f64 = v.iter().zip(target.iter()).map(|(a, b)| a * b).sum();
    for (t, e) in target.iter_mut().zip(v) {
        *t -= scale * dot * e;
    }
}

/// Solves R b = rhs for upper triangular R.
fn back_substitute(p: usize, r: &impl Fn(usize, usize) -> f64, mut rhs: Vec<f64>) -> Vec<f64> {
    for i in (0..p).rev() {
        let known: f64 = (i + 1..p).map(|j| r(i, j) * rhs[j]).sum();
        rhs[i] = (rhs[i] - known) / r(i, i);
    }
    rhs
}
