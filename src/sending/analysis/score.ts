import { CATEGORIES, type Category } from './codes.ts'
import type { Analysis, Issue } from './mail.ts'

/** Issues → a score from 0 to 100: 100 minus the penalties of each category, up to its cap. */
export function scoreOf(issues: readonly Pick<Issue, 'category' | 'penalty'>[]): number {
  const taken = new Map<Category, number>()
  for (const { category, penalty } of issues) taken.set(category, (taken.get(category) ?? 0) + penalty)
  let score = 100
  for (const [category, penalty] of taken) score -= Math.min(penalty, CATEGORIES[category])
  return Math.max(score, 0)
}

/** `bad` with any error or below 60; `good` from 85 without an error; `warning` in between. */
export function verdictOf(score: number, issues: readonly Pick<Issue, 'severity'>[]): Analysis['verdict'] {
  if (score < 60 || issues.some(({ severity }) => severity === 'error')) return 'bad'
  return score >= 85 ? 'good' : 'warning'
}
