import type { HtmlTag } from '../mail/html-scan.ts'

/** What is wrong with the tags of a page, each in its order. */
export interface TagFaults {
  /** Never closed, though their kind has to be. */
  unclosed: HtmlTag[]
  /** Closed only after what they stand in: `<b><i></b></i>`. */
  misnested: HtmlTag[]
  /** End tags of what is not open. */
  stray: HtmlTag[]
  /** `<div/>`, which opens and does not close. */
  selfClosed: HtmlTag[]
}

/** The elements that are open while a page is read, each with what `S` says of it, and the faults seen so far. Closing
 *  looks only at elements that it takes away, so that hundred thousands of them cost no more than their number. */
export class OpenElements<S> {
  readonly faults: TagFaults = { unclosed: [], misnested: [], stray: [], selfClosed: [] }
  private readonly stack: { tag: HtmlTag; state: S }[] = []
  private readonly open = new Map<string, number>()
  /** Taken away by the end of what they stood in; a late end tag makes them misnested. By name. */
  private readonly cutOff = new Map<string, HtmlTag[]>()

  constructor(private readonly root: S) {}

  /** What holds for text that comes now. */
  get state(): S {
    return this.stack.at(-1)?.state ?? this.root
  }

  has(name: string): boolean {
    return (this.open.get(name) ?? 0) > 0
  }

  /** To be called before `state` is asked for the tag: `<li>` ends the `<li>` before it. */
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

  /** The page is over. */
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

const MOST_NAMED = 1000 // of one kind; nobody reads more
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
