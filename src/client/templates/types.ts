import { readFileSync } from 'node:fs'
import { visible } from '../../net/visible-text.ts'
import { CommandFault } from './fault.ts'
import { openServer } from './server.ts'
import { fetchTemplates, type ParsedVariants } from './types/fetch.ts'
import { pythonFile } from './types/python.ts'
import { addSample, Shape, typeOf } from './types/shape.ts'
import { type TypedTemplate, typescriptFile } from './types/typescript.ts'
import { addUses } from './types/uses.ts'

interface Options {
  python?: boolean | undefined
  check?: string | undefined
}

/** Prints the types of the variables of all templates, for TypeScript or Python. With `check`, it compares them with that
 *  file instead. Returns 1 if they differ, otherwise 0. Throws CommandFault for wrong usage, for a template that cannot be
 *  read and for a server that is none, PostriderError for what the server refuses, and errors of the system for an
 *  unreadable file. */
export async function writeTypes(given: string[], { python, check }: Options): Promise<number> {
  if (given.length > 0) throw new CommandFault('types accepts no files. It prints to the standard output.', 2)
  const before = check === undefined ? null : readFileSync(check, 'utf8')
  const templates = (await fetchTemplates(openServer())).map(typed)
  const text = python || check?.endsWith('.py') ? pythonFile(templates) : typescriptFile(templates)
  if (check === undefined || before === null) {
    process.stdout.write(text)
    return 0
  }
  const line = differenceIn(before, text)
  if (line === null) return 0
  console.error(`${visible(check)}: differs from the templates of the server, from line ${line}. Write it again.`)
  return 1
}

function typed({ reference, sample, variants }: ParsedVariants): TypedTemplate {
  const root = new Shape()
  addSample(root, sample)
  for (const { texts, parts } of variants) addUses(root, texts, parts)
  const variables = typeOf(root)
  // The variables of a message are an object, whatever the template calls them.
  return {
    reference,
    variables: variables.kind === 'object' ? variables : { kind: 'object', fields: [], isNullable: false },
  }
}

/** Number of the first line that differs; null if none does. Git may have changed line ends. */
function differenceIn(before: string, after: string): number | null {
  const [old, now] = [before, after].map((text) => text.split(/\r?\n/))
  for (let at = 0; at < Math.max(old!.length, now!.length); at++) if (old![at] !== now![at]) return at + 1
  return null
}
