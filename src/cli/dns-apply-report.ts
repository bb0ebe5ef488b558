import type { DnsProvider } from '../domains/provider/providers.ts'
import type { Step } from '../domains/provider/step.ts'
import type { Domain } from '../model/domain.ts'
import type { PublishedRecord } from './dns-table.ts'
import { EXIT, type ExitCode } from './failure.ts'
import { print, printError, printJson, sanitize, table } from './print.ts'

export interface Target {
  zone: string
  provider: DnsProvider
}

/** What a run has done. */
export interface ApplyResult {
  domain: Domain
  target: Target
  steps: Step[]
  /** Steps that failed, in words. */
  faults: string[]
  /** Required records that are not correct afterwards. */
  wrong?: PublishedRecord[]
  ok: boolean
  isDry: boolean
}

/** Prints it, as one JSON object or in words, and returns the exit code. */
export function report(result: ApplyResult, { json }: { json?: true }): ExitCode {
  const { domain, target, faults, wrong = [], ok, isDry } = result
  if (json) {
    printJson(resultJson(result))
    return ok ? EXIT.done : EXIT.failed
  }
  for (const fault of faults) printError(sanitize(fault))
  for (const { type, name } of wrong)
    printError(`${type} ${name}: not correct. Run: postrider dns check ${domain.name}`)
  if (isDry) {
    const { name, needs } = target.provider
    print(`\nNothing was changed. ${name} needs ${needs.length === 0 ? 'its variables of lexicon' : needs.join(', ')}.`)
  } else if (ok) print(`\nAll required records of ${domain.name} are correct.`)
  return ok ? EXIT.done : EXIT.failed
}

/** The same as an object for JSON. */
export function resultJson({ domain, target, steps, faults, ok, isDry }: ApplyResult) {
  const shown = steps.map(({ record, ...step }) => ({ ...record, ...step }))
  return {
    domain: domain.name,
    zone: target.zone,
    provider: target.provider.name,
    steps: shown,
    faults,
    ok,
    dry_run: isDry,
  }
}

/** Steps as a table. */
export function stepsTable(steps: readonly Step[]): string {
  const rows = steps.map(({ action, record, removed, note }) => {
    const value = record.priority === null ? record.value : `${record.priority} ${record.value}`
    const instead = removed.length === 0 ? '' : ` (now: ${removed.join(' | ')})`
    return [action, record.type, record.name, note, `${value}${instead}`]
  })
  return table(['action', 'type', 'name', 'why', 'value'], rows)
}
