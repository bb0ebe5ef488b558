import { describe, expect, test } from 'bun:test'
import type { Command, Option } from 'commander'
import { z } from 'zod'
import { OPERATION_OF } from '../../src/cli/operation-command.ts'
import { createProgram } from '../../src/cli/program.ts'
import { isRecord } from '../../src/os/records.ts'
import { allOperations } from '../../src/web/manual/all-operations.ts'

/** The options of commands that are operations, compared with the schemas that the API and its reference use. */

const operations = new Map((await allOperations()).map((operation) => [operation.id, operation]))
const leaves = (command: Command): Command[] => [command, ...command.commands.flatMap(leaves)]
const rows = leaves(createProgram(() => {})).flatMap((command) => {
  const added = OPERATION_OF.get(command)
  return added === undefined ? [] : [{ name: `${command.parent?.name()} ${command.name()}`, ...added }]
})

type Schema = Record<string, unknown>

/** Schema → the JSON schemas of its fields, and which are required. */
function fieldsOf(schema: z.ZodType | undefined): { fields: Map<string, Schema>; required: unknown[] } {
  if (schema === undefined) return { fields: new Map(), required: [] }
  const { properties, required, $defs } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })
  const resolved = (field: unknown): Schema => {
    if (!isRecord(field)) return {}
    const { $ref, anyOf } = field
    if (typeof $ref === 'string') return resolved($defs?.[$ref.split('/').at(-1)!])
    return Array.isArray(anyOf) ? resolved(anyOf[0]) : field
  }
  const fields = Object.entries(properties ?? {}).map(([name, field]): [string, Schema] => [name, resolved(field)])
  return { fields: new Map(fields), required: required ?? [] }
}

test('most commands on records are operations', () => expect(rows.length).toBeGreaterThan(45))

describe('the options of a command have the fields, values and ranges of its operation', () => {
  for (const { name, operation: id, row } of rows) {
    test(name, () => {
      const operation = operations.get(id)
      if (operation === undefined) throw new Error(`there is no operation ${id}`)
      for (const [part, options = {}] of [
        ['query', row.query],
        ['body', row.body],
      ] as const) {
        const { fields, required } = fieldsOf(operation[part])
        for (const [field, option] of Object.entries(options)) {
          const schema = fields.get(field)
          expect({ field, isKnown: schema !== undefined }).toEqual({ field, isKnown: true })
          if (option.argChoices !== undefined) expect(option.argChoices).toEqual(schema!.enum as string[])
          if (option.mandatory) expect(required).toContain(field)
          if (schema!.type === 'boolean') expect(option.isBoolean()).toBe(true)
          if (schema!.type === 'integer') expectRange(option, schema!)
        }
      }
    })
  }
})

/** The command line reads at most six digits. */
function expectRange(option: Option, { minimum, maximum }: Schema): void {
  const parse = (value: unknown): unknown => option.parseArg?.(String(value), undefined)
  expect(parse(minimum)).toBe(minimum)
  if (Number(maximum) <= 999_999) expect(parse(maximum)).toBe(maximum)
  expect(() => parse(Number(maximum) + 1)).toThrow()
}
