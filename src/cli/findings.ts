import type { CheckResult, CheckStatus } from '../health/check.ts'
import { harmless, type Paint } from './print.ts'

/** Results of checks → a line each for people at a terminal, with what to do about it below. Names of DNS and answers of
 *  servers are strangers' words. */
export function findings(results: readonly CheckResult[], paint: Paint): string {
  const width = Math.max(0, ...results.map(({ name }) => name.length))
  return results
    .map((result) => {
      const label = result.name.replaceAll('_', ' ').padEnd(width)
      const line = `  ${sign(result.status, paint)} ${label}  ${harmless(result.message)}`
      return [line, ...adviceLines(result.advice)].join('\n')
    })
    .join('\n')
}

function adviceLines(advice: string | null): string[] {
  if (advice === null) return []
  return advice.split('\n').map((line, at) => `      ${at === 0 ? '→' : ' '} ${harmless(line)}`)
}

function sign(status: CheckStatus, paint: Paint): string {
  switch (status) {
    case 'pass':
      return paint.good('✓')
    case 'warn':
      return paint.wary('!')
    case 'fail':
      return paint.bad('✗')
    case 'skip':
      return paint.dim('-')
  }
}
