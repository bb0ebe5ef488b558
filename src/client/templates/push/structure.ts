import { comparable } from './compare.ts'
import { type Loop, loopIn } from './loop.ts'
import { type Marks, SIGN } from './marks.ts'
import { ConversionFault, listsAround, type State, type Variable } from './shape.ts'
import { difference, type Part, type Region, tokensOf } from './tokens.ts'
import { pathWords } from './words.ts'

/** A component in many states → one Liquid text. Where two states differ, the text gets an `if` or a `for`. The result
 *  is a proposal: it is right where one condition does not change what another one does, so it must be verified. */

/** State → the rendered part, with signs. */
export type Render = (state: State) => Promise<string>
/** How Liquid tests a switch: `gift`. */
export type Condition = (key: string, path: string) => string

interface Given {
  part: Part
  render: Render
  marks: Marks
  condition: Condition
  /** Names that loop variables must not have. */
  names: ReadonlySet<string>
}

/** A variable to look at: whether it is on, and for a list also its rows. */
interface Open {
  key: string
  kind: Variable['kind']
  isSwitch: boolean
}

/** The part of the mail that one call writes. */
interface Window {
  off: ReadonlySet<string>
  open: readonly Open[]
  /** Tokens before and after it. */
  before: number
  after: number
  /** List → its loop variable. */
  loops: ReadonlyMap<string, string>
}

/** A place that depends on a switch or a list. */
type Member = { key: string; region: Region } & ({ kind: 'switch' } | { kind: 'loop'; loop: Loop })

/** Variables that change the mail → Liquid. Throws ConversionFault. */
export function liquidOf(variables: readonly Variable[], given: Given): Promise<string> {
  const switches = variables.filter(({ kind }) => kind !== 'number')
  const open = switches.map((each) => ({ ...each, isSwitch: true }))
  return written({ off: new Set(), open, before: 0, after: 0, loops: new Map() }, given)
}

async function written(window: Window, given: Given): Promise<string> {
  const base = await tokensIn(window, given)
  const members = await membersOf(base, window, given)
  for (;;) {
    const groups = groupsOf(members)
    try {
      return await writtenGroups(groups, { base, window }, given)
    } catch (error) {
      if (!(error instanceof Straddling)) throw error
      if (error.before < window.before || error.after < window.after) throw error
      widen(members, error, base.length)
    }
  }
}

async function writtenGroups(groups: Group[], { base, window }: { base: string[]; window: Window }, given: Given) {
  let text = ''
  let at = window.before
  for (const { region, inside } of groups) {
    const others = new Set(
      groups.flatMap((group) => (group.inside === inside ? [] : group.inside.map(({ key }) => key))),
    )
    const open = window.open.filter(({ key }) => !others.has(key))
    const here = { ...window, open, before: region.start, after: base.length - region.end }
    text += plain(base.slice(at, region.start), window, given) + (await block(inside, region, here, given))
    at = region.end
  }
  return text + plain(base.slice(at, base.length - window.after), window, given)
}

/** When another one is off, a switch changes more than the region of the other: the region must be larger. */
class Straddling extends ConversionFault {
  /** Tokens before and after what it changes. */
  readonly before: number
  readonly after: number

  constructor(key: string, { before, after }: { before: number; after: number }) {
    super(`${pathWords(key)} changes parts of the mail that depend on other props, too.`)
    this.before = before
    this.after = after
  }
}

/** Makes the region of one member include what straddles it. */
function widen(members: Member[], { before, after }: Straddling, length: number): void {
  const end = length - after
  const member = members.find(({ region }) => region.end >= before && region.start <= end)
  const { start: first, end: last } = member?.region ?? { start: 0, end: 0 }
  if (member === undefined || (first <= before && last >= end))
    throw new ConversionFault('Its conditions are too entangled.')
  member.region = { start: Math.min(first, before), end: Math.max(last, end) }
}

async function tokensIn({ off }: Pick<Window, 'off'>, given: Given, sizes = NO_SIZES): Promise<string[]> {
  return tokensOf(await given.render({ off, sizes }), given.part)
}

const NO_SIZES: State['sizes'] = new Map()

/** The switches and lists that change something in the window. */
async function membersOf(base: string[], window: Window, given: Given): Promise<Member[]> {
  const found: Member[] = []
  for (const { key, kind, isSwitch } of window.open) {
    const none = await tokensIn({ off: new Set([...window.off, key]) }, given)
    if (kind === 'list') {
      const loop = await loopOf(key, { base, window }, given)
      if (loop !== null) found.push({ key, kind: 'loop', region: loop.region, loop })
      if (loop !== null && isWithout(base, loop.region, none, given.part)) continue
    }
    if (!isSwitch || (kind === 'string' && isBlanked(key, base, none, given))) continue
    const region = difference(base, none, given.part)
    if (region !== null) found.push({ key, kind: 'switch', region })
  }
  const end = base.length - window.after
  return found.filter(({ key, region }) => {
    if (region.start >= window.before && region.end <= end) return true
    if (region.end <= window.before || region.start >= end) return false
    throw new Straddling(key, {
      before: Math.min(region.start, window.before),
      after: Math.min(base.length - region.end, window.after),
    })
  })
}

/** True if an empty string only leaves its place empty. */
function isBlanked(key: string, base: string[], none: string[], { part, marks }: Given): boolean {
  const without = base.join('').replace(SIGN, (sign) => (marks.at(sign)!.key === key ? '' : sign))
  return comparable(without, part) === comparable(none.join(''), part)
}

async function loopOf(
  key: string,
  { base, window }: { base: string[]; window: Window },
  { part, render, marks }: Given,
): Promise<Loop | null> {
  const two = marks.asFirst(await render({ off: window.off, sizes: new Map([[key, 2]]) }), key)
  const isOwn = (token: string) => signsIn(token).some((sign) => marks.at(sign)?.key.startsWith(`${key}.*`))
  return loopIn(key, { one: base, two: tokensOf(two, part) }, { part, isOwn })
}

function isWithout(base: string[], { start, end }: Region, none: string[], part: Part): boolean {
  return comparable(base.slice(0, start).concat(base.slice(end)).join(''), part) === comparable(none.join(''), part)
}

interface Group {
  region: Region
  inside: Member[]
}

/** Members that share tokens, with the region that covers them. */
function groupsOf(members: Member[]): Group[] {
  const groups: Group[] = []
  for (const member of members.toSorted((a, b) => a.region.start - b.region.start || a.region.end - b.region.end)) {
    const last = groups.at(-1)
    if (last !== undefined && (member.region.start < last.region.end || isSame(member.region, last.region))) {
      last.region = { start: last.region.start, end: Math.max(last.region.end, member.region.end) }
      last.inside.push(member)
    } else groups.push({ region: member.region, inside: [member] })
  }
  return groups
}

const isSame = (one: Region, other: Region) => one.start === other.start && one.end === other.end

/** The outermost `if` or `for` of a group, with the rest inside. */
async function block(inside: Member[], region: Region, window: Window, given: Given): Promise<string> {
  const outer = outermost(inside, window)
  if (outer.kind === 'loop' && !isSame(outer.region, region)) throw overlapping(outer.key)
  if (outer.kind === 'loop') return loopBlock(outer.loop, window, given)
  const { key } = outer
  const isInGroup = new Set(inside.map((each) => each.key))
  const rest = window.open.filter((each) => each.key !== key)
  const yes = window.open.map((each) => (each.key === key ? { ...each, isSwitch: false } : each))
  const no = rest.filter((each) => !each.key.startsWith(`${key}.*`))
  const on = await written({ ...window, open: yes.filter((each) => isInGroup.has(each.key)) }, given)
  const off = await written({ ...window, open: no, off: new Set([...window.off, key]) }, given)
  const test = given.condition(key, pathOf(key, window.loops))
  if (off === '') return `{% if ${test} %}${on}{% endif %}`
  return on === '' ? `{% unless ${test} %}${off}{% endunless %}` : `{% if ${test} %}${on}{% else %}${off}{% endif %}`
}

function outermost(inside: Member[], { loops }: Window): Member {
  const size = ({ region }: Member) => region.end - region.start
  const isItem = ({ key }: Member) => listsAround(key).some((list) => !loops.has(list))
  const rank = (member: Member) => (isItem(member) ? 2 : member.kind === 'loop' ? 1 : 0)
  const largest = inside.toSorted((a, b) => size(b) - size(a) || rank(a) - rank(b))[0]!
  if (largest.kind === 'loop') {
    const emptiness = inside.find(({ key, kind }) => key === largest.key && kind === 'switch')
    const isAround = inside.every(({ region }) => contains(largest.region, region))
    if (emptiness === undefined && isAround) return largest
    const other = emptiness ?? inside.find((member) => member.kind === 'switch' && !isItem(member))
    if (other !== undefined) return other
    throw overlapping(largest.key)
  }
  if (!isItem(largest)) return largest
  throw new ConversionFault(`${pathWords(largest.key)} changes the mail outside of the rows of its list.`)
}

const contains = (one: Region, other: Region) => one.start <= other.start && other.end <= one.end

function overlapping(key: string): ConversionFault {
  return new ConversionFault(`The rows of ${pathWords(key)} and other conditions change the same part of the mail.`)
}

async function loopBlock({ list, separator }: Loop, window: Window, given: Given): Promise<string> {
  const name = loopName(list, window, given)
  const loops = new Map([...window.loops, [list, name]])
  const open = window.open.filter(({ key }) => key !== list)
  const body = await written({ ...window, open, loops }, given)
  const between =
    separator.length === 0 ? '' : `{% unless forloop.first %}${plain(separator, window, given)}{% endunless %}`
  return `{% for ${name} in ${pathOf(list, window.loops)} %}${between}${body}{% endfor %}`
}

/** `order.lines` → `line`, unless a variable has this name. */
function loopName(list: string, { loops }: Window, { names }: Given): string {
  const last = list.split('.').at(-1)!
  let name = last === '*' ? 'item' : last.replace(/(?<=[^s])s$/, '')
  if (name === last) name += '_item'
  while (names.has(name) || [...loops.values()].includes(name)) name += '_'
  return name
}

/** Key → its path in Liquid. Throws ConversionFault for an item outside of its loop. */
function pathOf(key: string, loops: ReadonlyMap<string, string>): string {
  const list = listsAround(key).at(-1)
  if (list === undefined) return key
  const name = loops.get(list)
  if (name !== undefined) return name + key.slice(list.length + '.*'.length)
  throw new ConversionFault(`${pathWords(key)} is used outside of the rows of its list. Pass it as its own prop.`)
}

const signsIn = (token: string) => token.match(SIGN) ?? []

const FILTERS = { p: '', r: ' | raw', u: ' | upcase', l: ' | downcase', e: ' | url_encode | replace: "+", "%20"' }

/** Tokens → Liquid without blocks. Text that Liquid would read is printed as a value. */
function plain(tokens: string[], { loops }: Window, { marks, part }: Given): string {
  const text = tokens.join('').replace(/\{(?=[{%\uE000]|$)/g, '{{ "{" }}')
  return text.replace(SIGN, (sign) => {
    const { key, form } = marks.at(sign)!
    const isRaw = form === 'r' && part !== 'html'
    return `{{ ${pathOf(key, loops)}${FILTERS[isRaw ? 'p' : form]} }}`
  })
}
