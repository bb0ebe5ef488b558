import { visible, visibleLines } from '../../net/visible-text.ts'
import { isOneOf, keysOf } from '../../os/records.ts'
import {
  ConflictError,
  NotFoundError,
  PayloadTooLargeError,
  QuotaExceededError,
  TemplateError,
  ValidationError,
} from '../errors.ts'
import type { Postrider } from '../postrider.ts'
import { CommandFault } from './fault.ts'
import { type Converted, converted } from './import/convert.ts'
import { fetchTemplates, readExport } from './import/read.ts'
import { type ForeignTemplate, SOURCES } from './import/sources.ts'
import type { Language } from './import/translate.ts'
import { openServer, requirePrivate, requireTemplate } from './server.ts'

interface Options {
  json?: boolean | undefined
  from?: string | undefined
  url?: string | undefined
  dryRun?: boolean | undefined
}

type Outcome = 'imported' | 'already_there' | 'not_imported'

interface Imported extends Pick<Converted, 'problems' | 'notes'> {
  name: string
  alias: string
  outcome: Outcome
}

/** Imports the templates of another service: from its API with the key in the environment, or from an export. Layouts
 *  come first. A template with a construct that has no equivalent is reported and not stored; nor is one whose alias
 *  exists, so that importing twice is safe. A dry run translates, without the server. Returns 1 if a template was not
 *  imported or there is none, otherwise 0. Throws CommandFault for wrong usage, a missing key, a source that cannot be
 *  read and a full plan, and PostriderError for what else the server refuses. */
export async function importTemplates(paths: string[], options: Options): Promise<number> {
  const language = languageOf(options.from)
  const server = options.dryRun ? null : openServer()
  const templates = await foreignTemplates(paths, language, options.url)
  const results: Imported[] = []
  for (const template of templates.toSorted((a, b) => Number(b.isLayout) - Number(a.isLayout))) {
    const found = converted(template, language)
    const { outcome, problems } = await stored(found, server)
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
  if (options.json)
    console.log(visibleLines(JSON.stringify({ data: results, ...counts, dry_run: options.dryRun === true })))
  else console.log(summary(counts, options))
  return results.length === 0 || counts.not_imported > 0 ? 1 : 0
}

function languageOf(from: string | undefined): Language {
  const names = keysOf(SOURCES)
  if (isOneOf(names, from)) return from
  throw new CommandFault(`--from: expected one of ${names.join(', ')}`, 2)
}

async function foreignTemplates(
  [path, ...more]: string[],
  language: Language,
  url: string | undefined,
): Promise<ForeignTemplate[]> {
  if (more.length > 0) throw new CommandFault('name one file or folder with an export', 2)
  const source = SOURCES[language]
  if (path !== undefined) return readExport(path, source)
  if (source.list === null) {
    throw new CommandFault(
      'name a file with the answers of `aws sesv2 get-email-template`; the API of SES takes no key',
      2,
    )
  }
  const key = process.env[source.keyName]?.trim()
  if (!key) throw new CommandFault(`set ${source.keyName} to a key of the service, or name a file with an export`, 2)
  if (!/^[\x21-\x7e]{1,500}$/.test(key)) throw new CommandFault(`${source.keyName} is not a key`, 2)
  const baseUrl = url ?? source.baseUrl
  if (baseUrl === null) {
    throw new CommandFault(
      '--url: name your domain: https://api.mailgun.net/v3/example.com, in Europe api.eu.mailgun.net',
      2,
    )
  }
  if (!URL.canParse(baseUrl)) throw new CommandFault('--url: expected a URL', 2)
  requirePrivate(new URL(baseUrl), '--url')
  return fetchTemplates(source, { baseUrl, key })
}

/** Without a server, only what the translation gives. */
async function stored(
  { body, problems }: Converted,
  server: Postrider | null,
): Promise<{ outcome: Outcome; problems: string[] }> {
  if (server !== null && (await exists(body.alias, server))) return { outcome: 'already_there', problems: [] }
  if (problems.length > 0) return { outcome: 'not_imported', problems }
  if (server === null) return { outcome: 'imported', problems }
  const { data, error } = await server.templates.create(body).safe()
  if (error === null) {
    requireTemplate(data)
    return { outcome: 'imported', problems }
  }
  if (error instanceof QuotaExceededError) throw new CommandFault(`${error.message} The rest was not imported.`)
  if (!REFUSALS.some((refusal) => error instanceof refusal)) throw error
  const faults = error.errors.map(({ message }) => message)
  return { outcome: 'not_imported', problems: faults.length > 0 ? faults : [error.message] }
}

/** Refusals of one template, which say nothing about the others. */
const REFUSALS = [ValidationError, TemplateError, ConflictError, PayloadTooLargeError]

async function exists(alias: string, { templates }: Postrider): Promise<boolean> {
  const { data, error } = await templates.get(alias).safe()
  if (error instanceof NotFoundError) return false
  if (error !== null) throw error
  requireTemplate(data)
  return true
}

const WORDS: Record<Outcome, string> = {
  imported: 'imported',
  already_there: 'the alias exists already',
  not_imported: 'not imported',
}

function show({ name, alias, outcome, problems, notes }: Imported, { dryRun }: Options): void {
  const word = outcome === 'imported' && dryRun ? 'would be imported' : WORDS[outcome]
  console.log(`${alias} (${visible(name)}): ${word}`)
  for (const note of notes) console.log(`  ${visible(note)}`)
  for (const problem of problems) console.error(`  ${alias}: ${visible(problem)}`)
}

function summary(counts: Record<Outcome, number>, { dryRun }: Options): string {
  const would = dryRun ? ' would be' : ''
  return `${counts.imported}${would} imported, ${counts.already_there} already there, ${counts.not_imported} not imported`
}
