"""Kernels between Gaussians, one pair at a time, as the paper prints them."""

import numpy as np


def as_matrix(covariance):
    return np.diag(covariance) if np.ndim(covariance) == 1 else np.asarray(covariance)


def eq_6(mean_k, cov_k, mean_l, cov_l):
    """Eq. 6 with (S_k^-1 + S_l^-1)^-1 in the exponent, without priors."""
    S_k, S_l = as_matrix(cov_k), as_matrix(cov_l)
    P_k, P_l = np.linalg.inv(S_k), np.linalg.inv(S_l)
    joint = np.linalg.inv(P_k + P_l)
    mu = P_k @ mean_k + P_l @ mean_l
    exponent = mean_k @ P_k @ mean_k + mean_l @ P_l @ mean_l - mu @ joint @ mu
    factor = np.linalg.det(joint) / (np.linalg.det(S_k) * np.linalg.det(S_l))
    return (2 * np.pi) ** (-len(mean_k) / 2) * factor**0.5 * np.exp(-exponent / 2)


def eq_6_as_printed(mean_k, cov_k, mean_l, cov_l):
    """Eq. 6 with the inverse of what is printed as the inverse of Sigma-tilde."""
    P_k, P_l = np.linalg.inv(as_matrix(cov_k)), np.linalg.inv(as_matrix(cov_l))
    mu = P_k @ mean_k + P_l @ mean_l
    twice, once = mu @ (P_k + P_l) @ mu, mu @ np.linalg.inv(P_k + P_l) @ mu
    return eq_6(mean_k, cov_k, mean_l, cov_l) * np.exp((twice - once) / 2)


def eq_8(mean_k, var_k, mean_l, var_l):
    """Eq. 8, without priors."""
    spread = var_k + var_l
    exponent = ((mean_k - mean_l) ** 2 / spread).sum()
    return np.exp(-exponent / 2) / np.sqrt(2 * np.pi * spread).prod()


def eq_12(mean, covariance, x):
    """Density of x, Eq. 10 and 12, without the prior."""
    S = as_matrix(covariance)
    away = x - mean
    norm = np.sqrt(np.linalg.det(2 * np.pi * S))
    return np.exp(-away @ np.linalg.solve(S, away) / 2) / norm


def draws(mean, covariance, n, rng):
    return rng.multivariate_normal(mean, as_matrix(covariance), n)
