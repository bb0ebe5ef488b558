import type { Command, Option } from 'commander'
import type { Columns } from './columns.ts'
import type { ExitCode } from './failure.ts'
import type { OperationContext } from './operation-context.ts'
import type { OperatorRequest } from './operator.ts'
import { withRecords } from './options.ts'
import type { Colors } from './print.ts'
import { FOR_OPERATOR, type ListName, type Lists, type OperationName, type Results } from './results.ts'
import { type Server, withServer } from './server-access.ts'

/** Commands that are one operation of the API. Their rows are in commands/; run-operation.ts runs them. A test compares
 *  the options with the schemas of the operations, which are built only when a command runs. */

/** What a user gave to a command. */
export interface Given<Options = GivenOptions> {
  operands: readonly string[]
  options: Options
}

/** Options that commands share, by the names of commander. */
export interface GivenOptions {
  config: string
  json?: true
  org?: string
  domain?: string
  /** Another server on which the operation runs (server-access.ts). */
  server?: Server | null
}

/** Where an operation works: the organization, domain and mode of the request, and fields that follow from them. */
export type Place = Pick<OperatorRequest, 'organizationId' | 'domainId' | 'mode' | 'params' | 'query'> & {
  body?: { domain_id: string | null }
}

/** Field of the API → the option that sets it. An option that was not given leaves its field out. */
export type Fields = Readonly<Record<string, Option>>

interface Row {
  about: string
  /** Options that select the place. */
  placed?: readonly Option[]
  query?: Fields
  body?: Fields
  /** Options that `given` reads. */
  others?: readonly Option[]
  /** Gets the exit code of a command that can fail without throwing. */
  end?: (code: number) => void
  /** Operands and other options → further fields. Runs first: it may read files that only root may read. */
  given?(given: Given<object>): { query?: Record<string, string>; body?: object }
}

/** A command with one answer. `--json` prints it as it is. */
export interface AnswerRow<Id extends OperationName> extends Row {
  place(given: Given, context: OperationContext): Promise<Place>
  /** The answer as text. */
  text(answer: Results[Id], given: Given<object>, colors: Colors): string
  /** A remark for standard error; null for none. */
  remark?(answer: Results[Id], given: Given): string | null
  /** By default 0. Runs before anything is printed, and may throw CommandFailure. */
  exitCode?(answer: Results[Id]): ExitCode
}

/** A command that prints records as a table, newest first. With a field `limit` it prints one page, otherwise all. */
export interface ListRow<Id extends ListName> extends Row {
  /** Several places: their lists follow each other. */
  place(given: Given, context: OperationContext): Promise<Place | Place[]>
  columns: Columns<Lists[Id]>
  /** Whether the table shows a record of the list at `place`; by default it shows all. */
  keep?(record: Lists[Id], place: Place): boolean
  /** Shown instead of a table without records. */
  none: string
}

/** A row of either kind. */
export type OperationRow = AnswerRow<OperationName> | ListRow<ListName>

/** Adds a command with one answer. `words`: name and operands, such as `show <id>`. */
export function addOperation<Id extends OperationName>(
  parent: Command,
  words: string,
  operation: Id,
  row: AnswerRow<Id>,
): void {
  add(parent, words, { operation, row })
}

/** Adds a command that prints a list. */
export function addList<Id extends ListName>(parent: Command, words: string, operation: Id, row: ListRow<Id>): void {
  add(parent, words, { operation, row })
}

interface Added {
  operation: OperationName
  row: Row
}

/** The operations of the commands, for the test that compares them with the schemas. */
export const OPERATION_OF = new WeakMap<Command, Added>()

function add(parent: Command, words: string, added: Added): void {
  const { operation, row } = added
  const command = withRecords(parent.command(words)).description(row.about)
  const { placed = [], query = {}, body = {}, others = [], end = () => {} } = row
  for (const option of [...placed, ...Object.values(query), ...Object.values(body), ...others]) {
    command.addOption(option)
  }
  if (!FOR_OPERATOR.has(operation)) withServer(command)
  OPERATION_OF.set(command, added)
  command.action(async (...args: unknown[]) => {
    const operands = args.slice(0, command.registeredArguments.length).map(String)
    const { runOperation } = await import('./run-operation.ts')
    // The row is of this operation: addOperation and addList require it.
    end(await runOperation(operation, row as OperationRow, { operands, options: command.opts() }))
  })
}
