import { readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, extname, join, resolve } from 'node:path'
import { aliasFault } from '../model/template.ts'
import { EXIT, usageFault } from './failure.ts'
import { print, printError, printJson, sanitize } from './print.ts'
import { ComponentFault, openComponent } from './template-push/component.ts'
import { type Converted, converted } from './template-push/convert.ts'
import { type Destination, type TemplateBody, withDestination } from './template-push/destination.ts'
import { ConversionFault } from './template-push/shape.ts'

interface Options {
  config: string
  json?: true
  org?: string
  url?: URL
  apiKey?: string
  alias?: string
  name?: string
  subject?: string
  dryRun?: true
}

/** A file whose component became a template. */
interface Ready {
  file: string
  alias: string
  made: Converted
}

/** Renders React Email components, and creates or updates a template for each. First it converts all of them, as the
 *  user who runs the command; then it writes those without a fault. Returns 1 if one was not pushed, otherwise 0.
 *  Throws CommandFailure for an unreadable file and for options that do not fit, and what the destination throws. */
export async function pushTemplates(given: string[], options: Options): Promise<number> {
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
  if (options.json) printJson({ data: pushed.map(recordOf), failed, dry_run: options.dryRun === true })
  else for (const each of pushed) show(each)
  if (!options.json) for (const { file, problem } of failed) printError(`${file}: not pushed\n${indented(problem)}`)
  return failed.length > 0 ? EXIT.failed : EXIT.done
}

const SOURCE = /\.[jt]sx$/

/** A folder stands for the files in it whose names do not start with `_`. */
function componentFiles(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path]
  const found = readdirSync(path).filter((name) => SOURCE.test(name) && !name.startsWith('_'))
  if (found.length === 0) throw usageFault(`${path}: no .tsx or .jsx file in this folder`)
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
    throw usageFault('--alias and --name apply to one file')
  }
  for (const [at, each] of aliases.entries()) {
    const fault = aliasFault(each)
    if (fault !== null) throw usageFault(`alias: ${fault}. Name it with --alias.`)
    const other = files[aliases.indexOf(each)]
    if (other !== files[at]) throw usageFault(`${other} and ${files[at]} have the same alias, ${each}`)
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

type Pushed = Ready & { version: number | null; id: string | null; isNew: boolean | null }

async function push(ready: Ready[], options: Options): Promise<Pushed[]> {
  if (options.dryRun || ready.length === 0) {
    return ready.map((each) => ({ ...each, version: null, id: null, isNew: null }))
  }
  return withDestination(options, async (destination) => {
    const pushed: Pushed[] = []
    for (const each of ready) pushed.push({ ...each, ...(await save(each, options, destination)) })
    return pushed
  })
}

async function save({ alias, made }: Ready, { name }: Options, destination: Destination) {
  const { subject, html, text, sample } = made
  const body: TemplateBody = { html, text, sample, ...(subject !== null && { subject }), ...(name && { name }) }
  const changed = await destination.update(alias, body)
  const { id, version } = changed ?? (await destination.create({ alias, name: nameOf(alias), ...body }))
  return { id, version, isNew: changed === null }
}

/** `order-receipt` → `Order receipt`. */
const nameOf = (alias: string) => alias.charAt(0).toUpperCase() + alias.slice(1).replaceAll('-', ' ')

function show({ file, alias, made, version, id, isNew }: Pushed): void {
  const outcome = isNew === null ? 'can be pushed' : `${isNew ? 'created' : 'updated'}, version ${version} (${id})`
  print(`${alias} (${sanitize(file)}): ${outcome}`)
  print(`  variables: ${made.variables.join(', ') || 'none'}`)
  if (made.unused.length > 0) print(`  not used: ${made.unused.join(', ')}`)
  if (made.subject === null) print('  no subject in the file: export `subject`, or use --subject')
}

function recordOf({ file, alias, made, version, id }: Pushed) {
  return { file, alias, id, version, ...made }
}

const indented = (text: string) => text.replace(/^/gm, '  ')
