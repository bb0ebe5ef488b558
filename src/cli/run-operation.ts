import { recordTable } from './columns.ts'
import { EXIT, type ExitCode, usageFault } from './failure.ts'
import type { AnswerRow, Fields, Given, ListRow, OperationRow, Place } from './operation-command.ts'
import { type OperationContext, withOperations } from './operation-context.ts'
import type { OperatorRequest } from './operator.ts'
import { colorsFor, print, printError, printJson } from './print.ts'
import type { ListName, Lists, OperationName } from './results.ts'

/** Runs a command that is an operation of the API, and prints the answer. Throws CommandFailure for a place that does
 *  not exist and for an update without a change, and Refusal as the operation does. */
export async function runOperation(operation: OperationName, row: OperationRow, given: Given): Promise<ExitCode> {
  const { options } = given
  const more = row.given?.(given) ?? {}
  const query = { ...textsIn(valuesIn(row.query, options)), ...more.query }
  const body = { ...valuesIn(row.body, options), ...more.body }
  if (operation.endsWith('_update') && Object.values(body).every((value) => value === undefined)) {
    throw usageFault('no change given. See --help')
  }
  const requestAt = (place: Place): OperatorRequest => ({
    ...place,
    query: { ...place.query, ...query },
    body: { ...place.body, ...body },
  })
  return withOperations(options, (context) => {
    const call = { given, context, requestAt }
    // addList takes only names of lists.
    return 'columns' in row ? printList(operation as ListName, row, call) : printAnswer(operation, row, call)
  })
}

interface Call {
  given: Given
  context: OperationContext
  requestAt: (place: Place) => OperatorRequest
}

async function printList(operation: ListName, row: ListRow<ListName>, call: Call): Promise<ExitCode> {
  const { given, context, requestAt } = call
  const show = (answer: { data: Lists[ListName][] }) => {
    if (given.options.json) printJson(answer)
    else print(recordTable(answer.data, row.columns) || row.none)
    return EXIT.done
  }
  const place = await row.place(given, context)
  const places = Array.isArray(place) ? place : [place]
  const [only] = places
  if (row.query?.limit !== undefined && only !== undefined)
    return show(await context.operator.run(operation, requestAt(only)))
  const lists = places.map(async (place) => {
    const all = await context.operator.listAll(operation, requestAt(place))
    return all.filter((record) => row.keep?.(record, place) ?? true)
  })
  return show({ data: (await Promise.all(lists)).flat() })
}

async function printAnswer(operation: OperationName, row: AnswerRow<OperationName>, call: Call): Promise<ExitCode> {
  const { given, context, requestAt } = call
  const answer = await context.operator.run(operation, requestAt(await row.place(given, context)))
  const code = row.exitCode?.(answer) ?? EXIT.done
  if (given.options.json) printJson(answer)
  else print(row.text(answer, given, colorsFor()))
  const remark = row.remark?.(answer, given) ?? null
  if (remark !== null) printError(remark)
  return code
}

function valuesIn(fields: Fields = {}, options: object): Record<string, unknown> {
  const values = new Map(Object.entries(options))
  return Object.fromEntries(
    Object.entries(fields).map(([field, option]) => [field, values.get(option.attributeName())]),
  )
}

/** A query has only texts. */
function textsIn(values: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([field, value]) => (value === undefined ? [] : [[field, String(value)]])),
  )
}
