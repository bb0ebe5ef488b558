import type { CheckResult, CheckStatus } from '../operating/health/check.ts'
import { type Colors, sanitize } from './print.ts'

/** Formats check results for a terminal: one line each, with advice on the lines below; '' without results. Sanitizes
 *  DNS names and server replies, which are untrusted. */
export function findings(results: readonly CheckResult[], colors: Colors): string {
  const width = Math.max(0, ...results.map(({ name }) => name.length))
  return results
    .map((result) => {
      const label = result.name.replaceAll('_', ' ').padEnd(width)
      const line = `  ${sign(result.status, colors)} ${label}  ${sanitize(result.message)}`
      return [line, ...adviceLines(result.advice)].join('\n')
    })
    .join('\n')
}

function adviceLines(advice: string | null): string[] {
  if (advice === null) return []
  return advice.split('\n').map((line, at) => `      ${at === 0 ? '→' : ' '} ${sanitize(line)}`)
}

function sign(status: CheckStatus, colors: Colors): string {
  switch (status) {
    case 'pass':
      return colors.good('✓')
    case 'warn':
      return colors.wary('!')
    case 'fail':
      return colors.bad('✗')
    case 'skip':
      return colors.dim('-')
  }
}
