import { foreignUnsubscribe, foreignUnsubscribeInHtml } from '../../../mail/foreign-unsubscribe.ts'
import { strftimeOf } from './date-format.ts'
import { liquidOf, pathOf, type Scope, truthOf, Untranslatable, untruthOf, wordsOf } from './expressions.ts'
import { type Token, tokensOf } from './tokens.ts'

/** The template languages of other services. */
export type Language = 'resend' | 'postmark' | 'sendgrid' | 'mailgun' | 'ses'

/** A text in Liquid, or the reasons why it has none. */
export interface Translated {
  text: string
  /** Constructs without an equivalent, with their line. Empty if the text is complete. */
  problems: { line: number; message: string }[]
}

interface Options {
  language: Language
  isHtml: boolean
  fallbacks?: Record<string, string | number>
}

/** Text of a template → Liquid that renders the same. Missing variables give nothing, as they did; in `resend` they need
 *  the fallback of the template, otherwise sending refuses them, as Resend does. So do those of `ses`, which have no
 *  fallbacks and whose values are escaped here. `fallbacks` has a value for each name. Never throws. */
export function translate(text: string, { language, isHtml, fallbacks = {} }: Options): Translated {
  const translator = createTranslator(text, { language, isHtml, fallbacks })
  const known = language === 'sendgrid' ? text.replace(SENDGRID_UNSUBSCRIBE, OURS) : text
  const problems = deadLinks(known, isHtml)
  let out = ''
  for (const token of tokensOf(known)) {
    try {
      out += token.kind === 'text' ? translator.text(token.text) : translator.tag(token)
    } catch (thrown) {
      if (!(thrown instanceof Untranslatable)) throw thrown
      problems.push({ line: token.line, message: thrown.message })
    }
  }
  const unclosed = problems.length === 0 ? translator.unclosed() : null
  if (unclosed !== null) problems.push(unclosed)
  return { text: out, problems }
}

type Tag = Extract<Token, { kind: 'tag' }>

interface Block {
  /** The name that closes it: `each`, `if`, or the name of a section. */
  name: string
  /** Liquid that closes it. */
  end: string
  hasScope: boolean
  line: number
}

function createTranslator(text: string, { language, isHtml, fallbacks }: Required<Options>) {
  const taken = new Set(text.match(/\w+/g))
  const scopes: Scope[] = [{ path: '', isLoop: false }]
  const blocks: Block[] = []
  let loops = 0

  const open = (tag: Tag, block: Omit<Block, 'line' | 'hasScope'>, liquid: string, scope?: Scope) => {
    blocks.push({ ...block, hasScope: scope !== undefined, line: tag.line })
    if (scope !== undefined) scopes.push(scope)
    return statement(liquid, tag)
  }
  const openLoop = (tag: Tag, code: string) => {
    const list = pathOf(code, scopes)
    const number = ++loops === 1 ? '' : loops
    const [item, given] = [freeName(`item${number}`, taken), freeName(`list${number}`, taken)]
    // The loop itself refuses a missing list.
    const before = statement(`assign ${given} = ${list} | default: ""`, tag)
    const liquid = `for ${item} in ${given}`
    return before + open(tag, { name: 'each', end: 'endfor' }, liquid, { path: item, isLoop: true })
  }
  const openIf = (tag: Tag, name: string, condition: string) => open(tag, { name, end: 'endif' }, `if ${condition}`)

  const opened = (tag: Tag): string => {
    const [name = '', ...words] = wordsOf(tag.code.slice(1))
    const [first = ''] = words
    if (language === 'resend') throw new Untranslatable(`{{#${name}}} is not part of Resend's templates`)
    if (name === 'each' && words.length === 1) return openLoop(tag, first)
    if (language !== 'postmark') {
      if (name === 'with' && words.length === 1) {
        const path = pathOf(first, scopes)
        return open(tag, { name, end: 'endif' }, `if ${truthOf(path)}`, { path, isLoop: false })
      }
      const condition = language === 'sendgrid' || HANDLEBARS.has(name) ? conditionOf(name, words, scopes) : null
      if (condition !== null) return openIf(tag, name, condition)
    }
    if (words.length > 0) throw new Untranslatable(`the helper ${name} has no equivalent`)
    const path = pathOf(name, scopes)
    return open(tag, { name, end: 'endif' }, `if ${truthOf(path)}`, { path, isLoop: false })
  }

  const otherwise = (tag: Tag): string => {
    const words = wordsOf(tag.code).slice(1)
    const block = blocks.at(-1)
    if (block === undefined) throw new Untranslatable('else without a block')
    if (words.length === 0) {
      if (block.hasScope) leave(block)
      return statement('else', tag)
    }
    const condition = words[0] === 'if' ? conditionOf('if', words.slice(1), scopes) : null
    if (condition === null || block.end !== 'endif') throw new Untranslatable(`{{${tag.code}}} has no equivalent`)
    return statement(`elsif ${condition}`, tag)
  }
  const leave = (block: Block) => {
    scopes.pop()
    block.hasScope = false
  }

  const closed = (tag: Tag): string => {
    const name = tag.code.slice(1).trim()
    const block = blocks.pop()
    if (block === undefined || (block.name !== name && name !== '')) {
      throw new Untranslatable(`{{/${name}}} closes no open block`)
    }
    if (block.hasScope) scopes.pop()
    return statement(block.end, tag)
  }

  const output = (tag: Tag): string => {
    const words = wordsOf(tag.code)
    const [name = '', ...rest] = words
    const raw = tag.isRaw && isHtml && language !== 'resend' && language !== 'ses' ? ' | raw' : ''
    const [plain = ''] = name.split('|') // Resend writes a fallback behind it
    if (UNSUBSCRIBE[language].has(plain)) return OURS
    const dead = UNSUBSCRIBE_PREFERENCES.test(plain) || foreignUnsubscribe(`{{${plain}}}`) !== null
    if (dead) throw new Untranslatable(`{{${tag.code}}} has no equivalent. Use ${OURS}`)
    if (language === 'resend') return resendOutput(tag)
    if (language === 'sendgrid' && name === 'insert' && rest.length > 0) {
      const given = /^(?:default=)?["']?(?:default=)?(.*?)["']?$/.exec(rest.slice(1).join(' '))?.[1] ?? ''
      return expression(`${pathOf(rest[0]!, scopes)} | default: ${quoted(given)}${raw}`, tag)
    }
    if (language === 'sendgrid' && name === 'formatDate') {
      return expression(`${liquidOf(rest[0] ?? '', scopes)} | date: ${dateFormat(rest)}`, tag)
    }
    if (rest.length > 0) throw new Untranslatable(`the helper ${name} has no equivalent`)
    if (language === 'postmark' && name === '@content') return expression('content', tag)
    if (language === 'ses') return expression(liquidOf(name, scopes), tag)
    return expression(`${liquidOf(name, scopes)} | default: ""${raw}`, tag)
  }

  const resendOutput = (tag: Tag): string => {
    if (!tag.isRaw) throw new Untranslatable(`{{${tag.code}}} is text at Resend, which has three braces`)
    const [name = '', inline] = tag.code.split('|').map((part) => part.trim())
    const fallback = inline ?? (Object.hasOwn(fallbacks, name) ? fallbacks[name] : undefined)
    const path = pathOf(name, scopes)
    if (fallback === undefined) return expression(path, tag)
    return expression(`${path} | default: ${typeof fallback === 'number' ? fallback : quoted(fallback)}`, tag)
  }

  return {
    text: (text: string) => (/\{%/.test(text) ? text.replaceAll('{%', '{% raw %}{%{% endraw %}') : text),
    tag: (tag: Tag): string => {
      const { code } = tag
      if (code.startsWith('>')) throw new Untranslatable(`the partial ${code.slice(1).trim()} is not in the export`)
      if (code.startsWith('#')) {
        const before = blocks.length
        try {
          return opened(tag)
        } finally {
          // Its end is no second fault.
          if (blocks.length === before) open(tag, { name: wordsOf(code.slice(1))[0] ?? '', end: 'endif' }, '')
        }
      }
      if (code === '^' || /^else(?:\s|$)/.test(code)) return otherwise(tag)
      if (code.startsWith('^')) {
        const name = code.slice(1).trim()
        return openIf(tag, name, untruthOf(pathOf(name, scopes)))
      }
      return code.startsWith('/') ? closed(tag) : output(tag)
    },
    unclosed: () => {
      const block = blocks.at(-1)
      return block === undefined ? null : { line: block.line, message: `{{#${block.name}}} is not closed` }
    },
  }
}

/** A name of ours that is no word of the text. */
function freeName(wanted: string, taken: ReadonlySet<string>): string {
  let name = wanted
  while (taken.has(name)) name += '_'
  return name
}

/** Helper of a block and its arguments → condition; null for any other helper. */
function conditionOf(helper: string, words: readonly string[], scopes: readonly Scope[]): string | null {
  const values = () => words.map((word) => liquidOf(word, scopes))
  if (helper === 'if' && words.length === 1) return truthOf(values()[0]!)
  if (helper === 'unless' && words.length === 1) return untruthOf(values()[0]!)
  if (words.length !== 2) return null
  const [one, other] = words as [string, string]
  const operator = OPERATORS.get(helper)
  if (operator !== undefined) return `${liquidOf(one, scopes)} ${operator} ${liquidOf(other, scopes)}`
  if (helper === 'and') return values().map(truthOf).join(' and ')
  // `or` of two conjunctions would bind otherwise in Liquid, which has no parentheses.
  return null
}

/** Block helpers of Mailgun and SES that are translated. */
const HANDLEBARS: ReadonlySet<string> = new Set(['if', 'unless', 'equal'])

const OPERATORS = new Map([
  ['equal', '=='],
  ['equals', '=='],
  ['notEquals', '!='],
  ['greaterThan', '>'],
  ['greaterThanOrEqual', '>='],
  ['lessThan', '<'],
  ['lessThanOrEqual', '<='],
])

function dateFormat([, format, ...zone]: readonly string[]): string {
  const literal = /^["'](.*)["']$/.exec(format ?? '')?.[1]
  const found = literal === undefined || zone.length > 0 ? null : strftimeOf(literal)
  if (found === null) throw new Untranslatable('formatDate has no equivalent with this format. Format the date before')
  return quoted(found)
}

function quoted(text: string): string {
  if (!text.includes('"')) return `"${text}"`
  if (!text.includes("'")) return `'${text}'`
  throw new Untranslatable('a default has both kinds of quotes')
}

const expression = (code: string, { trims: [before, after] }: Tag) =>
  `{{${before ? '-' : ''} ${code} ${after ? '-' : ''}}}`
const statement = (code: string, { trims: [before, after] }: Tag) =>
  `{%${before ? '-' : ''} ${code} ${after ? '-' : ''}%}`

const OURS = '%unsubscribe_url%'
/** Each service's names for its link to unsubscribe. */
const UNSUBSCRIBE: Record<Language, ReadonlySet<string>> = {
  resend: new Set(['RESEND_UNSUBSCRIBE_URL', 'UNSUBSCRIBE_URL']),
  postmark: new Set(['pm:unsubscribe', 'pm:unsubscribe_url']),
  sendgrid: new Set(['unsubscribe', 'Unsubscribe']),
  mailgun: new Set(),
  ses: new Set(['amazonSESUnsubscribeUrl']),
}
const UNSUBSCRIBE_PREFERENCES = /^unsubscribe_preferences$/i
const SENDGRID_UNSUBSCRIBE =
  /(?:<|&lt;|%3C)%(?:25)?asm_(?:group|global)_unsubscribe(?:_raw)?_url%(?:25)?(?:>|&gt;|%3E)/gi

/** Text before its translation → the first unsubscribe placeholder that is not written as a variable, and which nothing
 *  would replace. */
function deadLinks(text: string, isHtml: boolean): Translated['problems'] {
  const outside = text.replace(VARIABLE, (variable) => variable.replace(/[^\n]/g, ' '))
  const dead = isHtml ? foreignUnsubscribeInHtml(outside) : foreignUnsubscribe(outside)
  if (dead === null) return []
  const line = text.slice(0, text.indexOf(dead)).split('\n').length
  return [{ line, message: `${dead} has no equivalent. Use ${OURS}` }]
}

const VARIABLE = /\{\{[^{}]*\}\}/g
