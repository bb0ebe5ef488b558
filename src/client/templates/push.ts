import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, extname, join, resolve } from 'node:path'
import { aliasFault } from '../../model/template.ts'
import { visible, visibleLines } from '../../net/visible-text.ts'
import { NotFoundError } from '../errors.ts'
import type { Postrider } from '../postrider.ts'
import { CommandFault } from './fault.ts'
import { ComponentFault, openComponent } from './push/component.ts'
import { type Converted, converted } from './push/convert.ts'
import { ConversionFault } from './push/shape.ts'
import { openServer, requireTemplate } from './server.ts'

interface Options {
  json?: boolean | undefined
  alias?: string | undefined
  name?: string | undefined
  subject?: string | undefined
  dryRun?: boolean | undefined
}

/** A file whose component became a template. */
interface Ready {
  file: string
  alias: string
  made: Converted
}

/** Renders React Email components, and creates or updates a template for each. First it converts all of them, as the
 *  user who runs the program; then it stores those without a fault. Returns 1 if one was not pushed, otherwise 0.
 *  Throws CommandFault for options that do not fit, errors of the system for an unreadable file, and PostriderError for
 *  what the server refuses. */
export async function pushTemplates(given: string[], options: Options): Promise<number> {
  if (given.length === 0) throw new CommandFault('name the files with the components', 2)
  const files = given.flatMap(componentFiles)
  const aliases = files.map((file) => options.alias ?? aliasOf(file))
  requireDistinct(files, aliases, options)
  const ready: Ready[] = []
  const failed: { file: string; alias: string; problem: string }[] = []
  for (const [at, file] of files.entries()) {
    const alias = aliases[at]!
    try {
      ready.push({ file, alias, made: await convertedFile(file, options.subject) })
    } catch (error) {
      if (!(error instanceof ConversionFault || error instanceof ComponentFault)) throw error
      failed.push({ file, alias, problem: error.message })
    }
  }
  const pushed = await push(ready, options)
  if (options.json) print(JSON.stringify({ data: pushed.map(recordOf), failed, dry_run: options.dryRun === true }))
  else for (const each of pushed) show(each)
  if (!options.json) {
    for (const { file, problem } of failed) console.error(visibleLines(`${file}: not pushed\n${indented(problem)}`))
  }
  return failed.length > 0 ? 1 : 0
}

const SOURCE = /\.[jt]sx$/

/** A folder stands for the files in it whose names do not start with `_`. */
function componentFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  const found = readdirSync(path).filter((name) => SOURCE.test(name) && !name.startsWith('_'))
  if (found.length === 0) throw new CommandFault(`${path}: no .tsx or .jsx file in this folder`, 2)
  return found.toSorted().map((name) => join(path, name))
}

/** `emails/OrderReceipt.tsx` → `order-receipt`. */
function aliasOf(file: string): string {
  return basename(file, extname(file))
    .replace(/(?<=[a-z0-9])(?=[A-Z])/g, '-')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}

function requireDistinct(files: string[], aliases: string[], { alias, name }: Options): void {
  if (files.length > 1 && (alias !== undefined || name !== undefined)) {
    throw new CommandFault('--alias and --name apply to one file', 2)
  }
  for (const [at, each] of aliases.entries()) {
    const fault = aliasFault(each)
    if (fault !== null) throw new CommandFault(`alias: ${fault}. Name it with --alias.`, 2)
    const other = files[aliases.indexOf(each)]
    if (other !== files[at]) throw new CommandFault(`${other} and ${files[at]} have the same alias, ${each}`, 2)
  }
}

async function convertedFile(file: string, subject: string | undefined): Promise<Converted> {
  const component = await openComponent(resolve(file))
  try {
    return await converted(component, readFileSync(file, 'utf8'), subject)
  } finally {
    component.close()
  }
}

type Pushed = Ready & { version: number | null; id: string | null; change: 'created' | 'updated' | 'unchanged' | null }

async function push(ready: Ready[], options: Options): Promise<Pushed[]> {
  if (options.dryRun || ready.length === 0) {
    return ready.map((each) => ({ ...each, version: null, id: null, change: null }))
  }
  const server = openServer()
  const pushed: Pushed[] = []
  for (const each of ready) pushed.push({ ...each, ...(await save(each, options.name, server)) })
  return pushed
}

async function save({ alias, made }: Ready, name: string | undefined, { templates }: Postrider) {
  const { subject, html, text, sample } = made
  const body = { html, text, sample, ...(subject !== null && { subject }), ...(name && { name }) }
  const { data, error } = await templates.get(alias).safe()
  if (error !== null && !(error instanceof NotFoundError)) throw error
  if (error !== null) {
    const { id, version } = requireTemplate(await templates.create({ alias, name: nameOf(alias), ...body }))
    return { id, version, change: 'created' as const }
  }
  const before = requireTemplate(data)
  const { id, version, updated_at } = requireTemplate(await templates.update(alias, body))
  return { id, version, change: updated_at === before.updated_at ? ('unchanged' as const) : ('updated' as const) }
}

/** `order-receipt` → `Order receipt`. */
const nameOf = (alias: string) => alias.charAt(0).toUpperCase() + alias.slice(1).replaceAll('-', ' ')

function show({ file, alias, made, version, id, change }: Pushed): void {
  const stored = `${change}, version ${version} (${visible(id ?? '')})`
  const outcome = change === null ? 'can be pushed' : stored
  print(`${alias} (${visible(file)}): ${outcome}`)
  print(`  variables: ${made.variables.join(', ') || 'none'}`)
  if (made.unused.length > 0) print(`  not used: ${made.unused.join(', ')}`)
  if (made.subject === null) print('  no subject in the file: export `subject`, or use --subject')
}

function recordOf({ file, alias, made, version, id, change }: Pushed) {
  return { file, alias, id, version, change, ...made }
}

const print = (text: string) => console.log(visibleLines(text))

const indented = (text: string) => text.replace(/^/gm, '  ')
