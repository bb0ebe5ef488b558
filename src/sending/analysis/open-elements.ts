import type { HtmlTag } from '../../mail/html-scan.ts'

/** Faults of the tags in a page, each list in order. */
export interface TagFaults {
  /** Never closed, although required. */
  unclosed: HtmlTag[]
  /** Closed after their parent: `<b><i></b></i>`. */
  misnested: HtmlTag[]
  /** End tags without an open element. */
  stray: HtmlTag[]
  /** `<div/>`, which opens the element but does not close it. */
  selfClosed: HtmlTag[]
}

/** The open elements while a page is read, each with its state `S`, and the faults so far. Closing visits only the
 *  elements that it removes, so hundreds of thousands of them cost no more than their number. */
export class OpenElements<S> {
  readonly faults: TagFaults = { unclosed: [], misnested: [], stray: [], selfClosed: [] }
  private readonly stack: { tag: HtmlTag; state: S }[] = []
  private readonly open = new Map<string, number>()
  /** Removed by the end of a parent; a later end tag makes them misnested. By name. */
  private readonly cutOff = new Map<string, HtmlTag[]>()

  constructor(private readonly root: S) {}

  /** State for the text that comes next. */
  get state(): S {
    return this.stack.at(-1)?.state ?? this.root
  }

  has(name: string): boolean {
    return (this.open.get(name) ?? 0) > 0
  }

  /** Call before reading `state` for the tag: `<li>` ends the preceding `<li>`. */
  endImplied(name: string): void {
    for (const ended of IMPLICIT_CLOSE.get(name) ?? []) {
      if (this.stack.at(-1)?.tag.name === ended) this.pop()
    }
  }

  push(tag: HtmlTag, state: S): void {
    if (VOID.has(tag.name)) return
    if (tag.selfClosing && !this.has('svg') && tag.name !== 'svg' && !tag.name.includes(':')) {
      this.faults.selfClosed.push(tag)
      return
    }
    if (tag.selfClosing) return
    this.stack.push({ tag, state })
    this.open.set(tag.name, (this.open.get(tag.name) ?? 0) + 1)
  }

  close(tag: HtmlTag): void {
    if (!this.has(tag.name)) {
      const late = this.cutOff.get(tag.name)?.pop()
      if (late === undefined) this.faults.stray.push(tag)
      else this.faults.misnested.push(late)
      return
    }
    for (let top = this.pop(); top.name !== tag.name; top = this.pop()) this.cut(top)
  }

  /** Ends the page. */
  finish(): TagFaults {
    while (this.stack.length > 0) this.cut(this.pop())
    for (const tags of this.cutOff.values()) this.faults.unclosed.push(...tags.slice(0, MOST_NAMED))
    this.faults.unclosed.sort((a, b) => a.start - b.start)
    return this.faults
  }

  private pop(): HtmlTag {
    const { tag } = this.stack.pop()!
    this.open.set(tag.name, this.open.get(tag.name)! - 1)
    return tag
  }

  private cut(tag: HtmlTag): void {
    if (MAY_STAY_OPEN.has(tag.name)) return
    const tags = this.cutOff.get(tag.name)
    if (tags === undefined) this.cutOff.set(tag.name, [tag])
    else tags.push(tag)
  }
}

const MOST_NAMED = 1000 // per kind; more are not useful
const VOID = new Set(
  'area base basefont bgsound br col embed frame hr img input link meta param source track wbr'.split(' '),
)
/** HTML Living Standard §13.1.2.4: their end tags may be left out. */
const MAY_STAY_OPEN = new Set(
  'html head body p li dt dd tr td th thead tbody tfoot colgroup caption option optgroup rt rp'.split(' '),
)
const BLOCKS = 'p div table ul ol dl h1 h2 h3 h4 h5 h6 blockquote pre hr form center section article header footer'
const IMPLICIT_CLOSE = new Map<string, string[]>([
  ...BLOCKS.split(' ').map((name): [string, string[]] => [name, ['p']]),
  ['li', ['p', 'li']],
  ['dt', ['p', 'dt', 'dd']],
  ['dd', ['p', 'dt', 'dd']],
  ['td', ['p', 'td', 'th']],
  ['th', ['p', 'td', 'th']],
  ['tr', ['p', 'td', 'th', 'tr']],
  ['tbody', ['td', 'th', 'tr', 'thead', 'tbody']],
  ['tfoot', ['td', 'th', 'tr', 'thead', 'tbody']],
  ['option', ['option']],
  ['body', ['head']],
])
