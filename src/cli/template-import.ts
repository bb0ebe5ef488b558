import { readFileSync } from 'node:fs'
import type { Config } from '../config/load.ts'
import { Refusal } from '../model/refusal.ts'
import type { Resolver } from '../net/dns/resolver.ts'
import { createExchange } from '../net/https/exchange.ts'
import { askBy } from '../net/https/requests.ts'
import { createAddressGuard } from '../net/ip.ts'
import { VERSION } from '../version.ts'
import { type CliContext, withCliContext } from './cli-context.ts'
import { CommandFailure, EXIT, usageFault } from './failure.ts'
import { requireOrganization } from './org.ts'
import { print, printError, printJson, sanitize } from './print.ts'
import { type Converted, converted } from './template-import/convert.ts'
import { fetchTemplates, readExport } from './template-import/read.ts'
import { type ForeignTemplate, SOURCES } from './template-import/sources.ts'
import type { Language } from './template-import/translate.ts'

interface Options {
  config: string
  json?: true
  org?: string
  from: Language
  url?: string
  dryRun?: true
}

type Outcome = 'imported' | 'already_there' | 'not_imported'

interface Imported extends Pick<Converted, 'problems' | 'notes'> {
  name: string
  alias: string
  outcome: Outcome
}

/** Imports the templates of another service: from its API with the key in the environment, or from an export. Layouts
 *  come first. A template with a construct that has no equivalent is reported and not stored; nor is one whose alias
 *  exists, so that importing twice is safe. Returns 1 if a template was not imported or there is none, otherwise 0.
 *  Throws CommandFailure for an unknown `org`, a missing key, and a source that cannot be read. */
export async function importTemplates(path: string | undefined, options: Options): Promise<number> {
  return withCliContext(options.config, async (context) => {
    const { id: organizationId } = await requireOrganization(options.org, context.store)
    const templates = await foreignTemplates(path, options, context)
    const layoutsFirst = templates.toSorted((a, b) => Number(b.isLayout) - Number(a.isLayout))
    const results: Imported[] = []
    for (const template of layoutsFirst) {
      const found = converted(template, options.from)
      const { outcome, problems } = await stored(found, { organizationId, isDryRun: options.dryRun === true, context })
      const { name, alias } = found.body
      const result = { name, alias, outcome, problems, notes: found.notes }
      results.push(result)
      if (!options.json) show(result, options)
    }
    const count = (outcome: Outcome) => results.filter((each) => each.outcome === outcome).length
    const counts = {
      imported: count('imported'),
      already_there: count('already_there'),
      not_imported: count('not_imported'),
    }
    if (options.json) printJson({ data: results, ...counts, dry_run: options.dryRun === true })
    else print(summary(counts, options))
    return results.length === 0 || counts.not_imported > 0 ? EXIT.failed : EXIT.done
  })
}

async function foreignTemplates(
  path: string | undefined,
  { from, url }: Options,
  { config, operator }: CliContext,
): Promise<ForeignTemplate[]> {
  const source = SOURCES[from]
  if (path !== undefined) return readExport(path, source)
  const key = process.env[source.keyName]?.trim()
  if (!key) throw usageFault(`set ${source.keyName} to a key of the service, or name a file with an export`)
  if (!/^[\x21-\x7e]{1,500}$/.test(key)) throw usageFault(`${source.keyName} is not a key`)
  const { exchange, close } = openExchange(config, operator.resolver, url !== undefined)
  try {
    const pause = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms))
    return await fetchTemplates(source, { baseUrl: url ?? source.baseUrl, key, ask: askBy(exchange), pause })
  } finally {
    close()
  }
}

/** The operator chose an own URL, so it may be private, like that of an alert. */
function openExchange({ webhooks }: Config, resolver: Resolver, isOwnUrl: boolean) {
  return createExchange({
    resolver,
    mayConnect: isOwnUrl ? () => true : createAddressGuard([]),
    userAgent: `Postrider/${VERSION}`,
    keepsAlive: true,
    ...(webhooks.caFile !== null && { ca: readFileSync(webhooks.caFile, 'utf8') }),
  })
}

async function stored(
  { body, problems }: Converted,
  { organizationId, isDryRun, context }: { organizationId: string; isDryRun: boolean; context: CliContext },
): Promise<{ outcome: Outcome; problems: string[] }> {
  const { store, operator } = context
  if ((await store.templates.findByAlias(organizationId, body.alias, 'live')) !== null) {
    return { outcome: 'already_there', problems: [] }
  }
  if (problems.length > 0) return { outcome: 'not_imported', problems }
  if (isDryRun) return { outcome: 'imported', problems }
  try {
    await operator.run('templates_create', { organizationId, body })
    return { outcome: 'imported', problems }
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown
    if (thrown.reason === 'quota_exceeded') throw new CommandFailure(`${thrown.message} The rest was not imported.`)
    const faults = thrown.faults?.map(({ message }) => message) ?? [thrown.message]
    return { outcome: 'not_imported', problems: faults }
  }
}

const WORDS: Record<Outcome, string> = {
  imported: 'imported',
  already_there: 'the alias exists already',
  not_imported: 'not imported',
}

function show({ name, alias, outcome, problems, notes }: Imported, { dryRun }: Options): void {
  const word = outcome === 'imported' && dryRun ? 'would be imported' : WORDS[outcome]
  print(`${alias} (${sanitize(name)}): ${word}`)
  for (const note of notes) print(`  ${sanitize(note)}`)
  for (const problem of problems) printError(`  ${alias}: ${sanitize(problem)}`)
}

function summary(counts: Record<Outcome, number>, { dryRun }: Options): string {
  const would = dryRun ? ' would be' : ''
  return `${counts.imported}${would} imported, ${counts.already_there} already there, ${counts.not_imported} not imported`
}
