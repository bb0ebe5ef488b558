/** Names and values of Handlebars and Mustache → Liquid. */

/** Where a name is looked up: the Liquid path of the current context, '' for the variables of the message. */
export interface Scope {
  path: string
  /** Of a list, with `@index`. */
  isLoop: boolean
}

/** Something without an equivalent. The message ends the sentence `line 3: …`. */
export class Untranslatable extends Error {}

/** A name, string, number or subexpression → Liquid. `scopes`: outermost first. Throws Untranslatable. */
export function liquidOf(code: string, scopes: readonly Scope[]): string {
  if (/^-?\d+(?:\.\d+)?$/.test(code) || code === 'true' || code === 'false') return code
  if (code === 'null' || code === 'undefined') return 'nil'
  if (/^(?:"[^"]*"|'[^']*')$/.test(code)) return code
  const [, measured] = /^\(\s*length\s+(\S+)\s*\)$/.exec(code) ?? []
  if (measured !== undefined) return `${pathOf(measured, scopes)}.size`
  return pathOf(code, scopes)
}

/** `../user.name` → the Liquid path of the variable. Throws Untranslatable. */
export function pathOf(code: string, scopes: readonly Scope[]): string {
  if (code.startsWith('@')) return loopValue(code, scopes)
  let [name, depth] = [code, scopes.length - 1]
  for (; name.startsWith('../'); name = name.slice(3)) depth--
  const scope = scopes[depth]
  if (scope === undefined) throw new Untranslatable(`{{${code}}} leaves the template`)
  name = name.replace(/^(?:\.\/|this[./])/, '')
  if (name === 'this' || name === '.' || name === '..') {
    if (scope.path === '') throw new Untranslatable(`{{${code}}} stands for all variables`)
    return scope.path
  }
  return joined(scope.path, name, code)
}

function loopValue(code: string, scopes: readonly Scope[]): string {
  if (code.startsWith('@root.')) return joined('', code.slice('@root.'.length), code)
  const found = LOOP_VALUES[code]
  if (found !== undefined && scopes.some(({ isLoop }) => isLoop)) return found
  throw new Untranslatable(`${code} has no equivalent`)
}

const LOOP_VALUES: Record<string, string> = {
  '@index': 'forloop.index0',
  '@first': 'forloop.first',
  '@last': 'forloop.last',
}

function joined(path: string, name: string, code: string): string {
  const parts = name.split('.').map((part) => /^\[(.*)\]$/.exec(part)?.[1] ?? part)
  let found = path
  for (const [at, part] of parts.entries()) {
    if (/^\d+$/.test(part) && found !== '') found += `[${part}]`
    else if (/^[A-Za-z_][\w-]*$/.test(part)) found += found === '' ? part : `.${part}`
    else throw new Untranslatable(`{{${code}}} is not a name in Liquid`)
    if (at === 0 && path === '' && RESERVED.has(part)) {
      throw new Untranslatable(`{{${code}}} is a word of Liquid. Rename the variable`)
    }
  }
  return found
}

const RESERVED = new Set(['and', 'or', 'not', 'contains', 'true', 'false', 'nil', 'null', 'empty', 'blank', 'forloop'])

/** Value → a condition that is false where Mustache and Handlebars see nothing: also for '', 0 and an empty list, which
 *  Liquid takes as true. */
export function truthOf(value: string): string {
  return `${value} and ${value} != blank and ${value} != 0`
}

/** The opposite of truthOf: Liquid evaluates from right to left. */
export function untruthOf(value: string): string {
  return `${value} == blank or ${value} == 0`
}

/** Words of a tag: names, strings, and subexpressions in parentheses. Nothing but white space is left out. Linear. */
export function wordsOf(code: string): string[] {
  return code.match(/"[^"]*"?|'[^']*'?|\([^()]*\)?|(?:[^\s"'()[\]]|\[[^\]]*\]?)+|[)\]]/g) ?? []
}
