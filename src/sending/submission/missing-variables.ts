import { Refusal } from '../../model/refusal.ts'

/** Puts `[name]` in place of each variable that a rendering lacks, until it succeeds. */
export class StandIns {
  readonly given: Record<string, unknown>
  /** Variables without value and default, in the order of their first use. */
  readonly missing: string[] = []
  readonly #names: readonly string[]

  /** `names`: all variables of the texts. Does not change `variables`. */
  constructor(names: readonly string[], variables: Record<string, unknown>) {
    this.#names = names
    this.given = structuredClone(variables)
  }

  /** Puts one in place of `lacking`, or of the parts of it that the texts use. False if nothing can replace it, as for a
   *  list, or if there are too many. */
  replace(lacking: string): boolean {
    const before = this.missing.length
    for (const name of this.#names) {
      const isLacking = name === lacking || name.startsWith(`${lacking}.`) || name.startsWith(`${lacking}[`)
      if (isLacking && !this.missing.includes(name) && stand(this.given, name)) this.missing.push(name)
    }
    return this.missing.length > before && this.missing.length <= MAX_MISSING
  }
}

/** Each costs one more try. */
const MAX_MISSING = 100

/** The refusal of a rendering that lacks a variable → the same, that names all which are missing. `render` renders with
 *  other variables, and throws such refusals. Returns any other refusal as it is. */
export function namingAllMissing(
  first: Refusal,
  standIns: StandIns,
  render: (given: Record<string, unknown>) => unknown,
): Refusal {
  for (let error = first; standIns.replace(lackingIn(error)); ) {
    try {
      render(standIns.given)
      break
    } catch (thrown) {
      if (!(thrown instanceof Refusal)) throw thrown
      error = thrown
    }
  }
  const { missing } = standIns
  if (missing.length < 2) return first
  const { reason, field, details } = first
  const listed = `${missing.slice(0, -1).join(', ')} and ${missing.at(-1)}`
  return new Refusal(reason, `variables ${listed} are missing and have no default`, {
    field,
    details: { ...details, missing },
  })
}

/** The variable that a refusal of a rendering names; '' for none. */
export function lackingIn({ details }: Refusal): string {
  return typeof details?.variable === 'string' ? details.variable : ''
}

/** Sets `[user.name]` at `user.name`; false if something is already there. */
function stand(given: Record<string, unknown>, name: string): boolean {
  const path = name.match(/[^.[\]"']+/g) ?? [name]
  const last = path.pop()!
  let at = given
  for (const part of path) {
    if (!Object.hasOwn(at, part)) at[part] = {}
    const next = at[part]
    if (typeof next !== 'object' || next === null) return false
    at = next as Record<string, unknown>
  }
  if (Object.hasOwn(at, last)) return false
  Object.defineProperty(at, last, { value: `[${name}]`, enumerable: true, configurable: true, writable: true })
  return true
}
