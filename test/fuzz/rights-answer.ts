import { type Caller, roleOf, type Verdict } from './rights-model.ts'
import type { Answer } from './rights-world.ts'

/** Throws unless the answer is the one of the model. `conflict`: allowed, but the state of the record forbids it. */
export function expectAnswer(what: string, { status, text }: Answer, wanted: Verdict | 'conflict'): boolean {
  const isRight =
    wanted === 'in'
      ? status >= 200 && status < 300
      : wanted === 'conflict'
        ? [409, 422].includes(status)
        : status === wanted
  if (!isRight) throw new Error(`${what}: ${status}, and the table says ${wanted}: ${text.slice(0, 300)}`)
  return wanted === 'in'
}

/** Who a caller is, for messages. */
export const nameOf = (caller: Caller): string =>
  caller.kind === 'session'
    ? `${roleOf(caller.person, caller.org)} ${caller.person.id}`
    : `key ${caller.id} (${caller.permissions} ${caller.mode}, limit ${typeof caller.limit === 'object' ? caller.limit?.id : caller.limit})`
