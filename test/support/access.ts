import type { AccessRule } from '../../src/web/api/access.ts'
import type { Tool } from '../../src/web/api/operation.ts'
import { allOperations } from '../../src/web/manual/all-operations.ts'

const OPERATIONS = await allOperations()
const RULES = new Map(OPERATIONS.map(({ id, access }) => [id, access]))

/** IDs of all operations, without aliases. */
export const OPERATION_IDS = [...RULES.keys()]

/** The access rule of an operation; undefined for an unknown one. */
export function accessOf(id: string): AccessRule | undefined {
  return RULES.get(id)
}

/** A tool of /mcp with the ID of its operation. */
export interface DocumentedTool extends Tool {
  operation: string
}

export const TOOLS: readonly DocumentedTool[] = [
  ...new Map(OPERATIONS.flatMap(({ id, tool }) => (tool ? [[tool.name, { ...tool, operation: id }]] : []))).values(),
]
