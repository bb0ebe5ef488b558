import type { Config } from '../config/load.ts'
import { applySteps } from '../domains/provider/apply.ts'
import { type Credentials, CredentialsFault, credentialsOf } from '../domains/provider/credentials.ts'
import { LexiconFault, openProviderZone, requireLexicon } from '../domains/provider/lexicon.ts'
import { isVisible, keptDmarc, planSteps, possibleAt } from '../domains/provider/plan.ts'
import { type DnsProvider, providerNamed, providerOf } from '../domains/provider/providers.ts'
import type { Step } from '../domains/provider/step.ts'
import { zoneOf } from '../domains/provider/zone-of.ts'
import type { Domain } from '../model/domain.ts'
import type { Resolver } from '../net/dns/resolver.ts'
import { backoffMs } from '../os/backoff.ts'
import { systemClock } from '../os/clock.ts'
import { systemRandom } from '../os/random.ts'
import { type CliContext, withCliContext } from './cli-context.ts'
import { recordsOf } from './dns.ts'
import { type ApplyResult, report, stepsTable, type Target } from './dns-apply-report.ts'
import { CommandFailure, type ExitCode, usageFault } from './failure.ts'
import { hostRecords, UNKNOWN_ADDRESS } from './host-records.ts'
import { requireDomain } from './places.ts'
import { print, printError, sanitize } from './print.ts'
import { type Prompt, terminalPrompt } from './prompt.ts'

export interface ApplyOptions {
  config: string
  provider?: string
  dryRun?: true
  yes?: true
  mx?: true
  timeout: number
  json?: true
}

/** Compares the records of a domain with DNS, prints the difference, asks, and lets lexicon create and change them at the
 *  DNS provider. Then it waits until they are visible, and checks the domain. Returns 0 if everything is in place, and for
 *  a dry run; otherwise 1. Throws CommandFailure for an unknown domain, a zone without a known provider, and missing
 *  credentials. */
export async function applyDns(name: string, options: ApplyOptions): Promise<ExitCode> {
  const how = { asksAuthorities: true }
  return withCliContext(
    options.config,
    async (context) => report(await applyTo(await requireDomain(name, context.store), context, options), options),
    how,
  )
}

/** The same for a domain and an open store. Prints what it does, but not the result. */
export async function applyTo(domain: Domain, context: CliContext, options: ApplyOptions): Promise<ApplyResult> {
  const { resolver } = context.operator
  const target = await targetOf(domain.name, options.provider ?? context.config.dns.provider, resolver)
  const records = await recordsOf('domains_verify', domain, context)
  const hosts = hostRecords(context.config, domain.name).filter(({ value }) => value !== UNKNOWN_ADDRESS)
  const all = await planSteps(records, hosts, { mx: options.mx === true, resolver })
  const planned = possibleAt(target.provider, target.zone, all)
  if (!options.json) print(`Zone ${target.zone} at ${target.provider.name}\n\n${stepsTable(planned)}`)
  if (options.dryRun) return { domain, target, steps: planned, faults: [], ok: true, isDry: true }
  const isChange = ({ action }: Step) => action === 'create' || action === 'change'
  const steps = planned.some(isChange) ? await agreed(planned, context.config, target.provider, options) : planned
  const faults = await change(steps, { ...target, config: context.config, resolver }, options)
  const after = await recordsOf('domains_verify', domain, context)
  const wrong = after.filter(({ required, status }) => required && status !== 'valid')
  const ok = faults.length === 0 && wrong.length === 0
  return { domain, target, steps, faults, ok, wrong, isDry: false }
}

async function targetOf(domain: string, named: string, resolver: Resolver): Promise<Target> {
  const found = await zoneOf(domain, resolver)
  if (found === null) throw new CommandFailure(`DNS has no zone for ${domain}, or did not answer`)
  const provider = named === '' ? providerOf(found.servers) : providerNamed(named)
  if (provider !== null) return { zone: found.zone, provider }
  if (named !== '') throw usageFault('--provider: expected the name of a provider of lexicon, such as cloudflare')
  const servers = found.servers.slice(0, MOST_SERVERS).map(sanitize).join(', ')
  throw usageFault(`The provider of ${found.zone} is not known (${servers}). Name it with --provider.`)
}

const MOST_SERVERS = 4

/** The steps that the user agreed to. Throws CommandFailure if credentials or lexicon are missing, and without consent. */
async function agreed(planned: Step[], config: Config, provider: DnsProvider, options: ApplyOptions): Promise<Step[]> {
  requireProgram()
  credentialsFrom(config, provider)
  const ask: Prompt | null = options.yes ? null : terminalPrompt(!options.json)
  if (ask === null && !options.yes) throw usageFault('no terminal to ask in: use --yes, or --dry-run')
  const isYes = async (question: string) => /^y(?:es)?$/i.test((await ask?.(`${question} [y/N]: `)) ?? '')
  const dmarc = planned.find((step) => step.purpose === 'dmarc' && step.action === 'change')
  // A policy that somebody set stays as it is without a person's consent to exactly this change.
  const isExtended = dmarc !== undefined && (await isYes(`Add the report address to ${dmarc.record.name}?`))
  const steps = isExtended ? planned : planned.map(keptDmarc)
  const count = steps.filter(({ action }) => action === 'create' || action === 'change').length
  if (count > 0 && !options.yes && !(await isYes(`Apply ${count} ${count === 1 ? 'change' : 'changes'}?`))) {
    throw new CommandFailure('nothing was changed')
  }
  return steps
}

/** Throws CommandFailure. */
export function requireProgram(): string {
  try {
    return requireLexicon()
  } catch (thrown) {
    if (thrown instanceof LexiconFault) throw new CommandFailure(thrown.message)
    throw thrown
  }
}

/** Throws CommandFailure. */
export function credentialsFrom({ dns }: Pick<Config, 'dns'>, provider: DnsProvider): Credentials {
  try {
    return credentialsOf(provider, dns.credentialsFile ?? '', process.env)
  } catch (thrown) {
    if (thrown instanceof CredentialsFault) throw usageFault(thrown.message)
    throw thrown
  }
}

/** Applies the steps and waits until DNS shows them → what went wrong, in words. */
async function change(
  steps: Step[],
  { zone, provider, config, resolver }: Target & { config: Config; resolver: Resolver },
  { timeout, json }: ApplyOptions,
): Promise<string[]> {
  if (steps.every(({ action }) => action === 'keep' || action === 'conflict')) return []
  const opened = openProviderZone({ zone, provider, credentials: credentialsFrom(config, provider) }, requireProgram())
  try {
    const applied = await applySteps(steps, opened, ({ step, fault }) => {
      if (!json) print(fault === null ? `${DONE[step.action]} ${nameOf(step)}` : `not applied: ${nameOf(step)}`)
    })
    const faults = applied.flatMap(({ step, fault }) => (fault === null ? [] : [`${nameOf(step)}: ${fault}`]))
    const hidden = await untilVisible(
      applied.flatMap(({ step, fault }) => (fault === null ? [step] : [])),
      resolver,
      timeout * 1000,
    )
    return [...faults, ...hidden.map((step) => `${nameOf(step)}: DNS does not show it yet`)]
  } finally {
    opened.close()
  }
}

const DONE = { create: 'created', change: 'changed', keep: '', conflict: '' }
const nameOf = ({ record }: Step) => `${record.type} ${record.name}`

/** Seconds between looks; the last one repeats. */
const WAITS = [1, 2, 5, 10, 20, 30]

/** Steps → those that DNS does not show within the time. */
async function untilVisible(steps: Step[], resolver: Resolver, withinMs: number): Promise<Step[]> {
  const endsAt = systemClock.steady.now() + withinMs
  let hidden = steps
  let printed = ''
  for (let look = 1; ; look++) {
    const seen = await Promise.all(hidden.map((step) => isVisible(step, resolver)))
    hidden = hidden.filter((_, at) => !seen[at])
    const leftMs = endsAt - systemClock.steady.now()
    if (hidden.length === 0 || leftMs <= 0) return hidden
    const waiting = `waiting for ${[...new Set(hidden.map(({ record }) => record.name))].join(', ')}`
    if (waiting !== printed) printError(waiting)
    printed = waiting
    await systemClock.sleep(Math.min(leftMs, backoffMs(WAITS, look, 0.1, systemRandom)))
  }
}
