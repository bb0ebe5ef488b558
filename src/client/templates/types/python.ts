import { literal } from './literal.ts'
import type { ValueType } from './shape.ts'
import type { TypedTemplate } from './typescript.ts'

/** Templates → a module for Python 3.9 and later: a TypedDict for the variables of each template, and a function that
 *  checks them for the template's name. Names from outside occur as string literals, and in class names only with their
 *  letters and digits. */
export function pythonFile(templates: TypedTemplate[]): string {
  const writer = new Writer()
  const named = templates.map(({ reference, variables }) => ({
    reference: literal(reference, 'python'),
    type: writer.dictionary(variables, className(reference)),
  }))
  const single = (each: (typeof named)[number], body: string) =>
    `def variables(template_id: Literal[${each.reference}], values: ${each.type}) -> Dict[str, Any]:${body}`
  const [only] = named
  const check =
    named.length === 1 && only !== undefined
      ? single(only, DOCUMENTED)
      : `${named.map((each) => `@overload\n${single(each, ' ...\n\n\n')}`).join('')}${named.length === 0 ? '' : ANY}`
  return `${HEAD}${writer.text}${check}`
}

const HEAD = `# Written by \`postrider-templates types --python\`. Changes are lost.
# ruff: noqa
from typing import Any, Dict, Literal, Optional, Sequence, TypedDict, Union, overload

`
const DOCUMENTED = `
    """Return the values, which a type checker compares with the variables of the template."""
    return dict(values)
`
const ANY = `def variables(template_id: str, values: Any) -> Dict[str, Any]:${DOCUMENTED}`

const PLAIN = {
  text: 'Union[str, int, float]',
  boolean: 'bool',
  printable: 'Union[str, int, float, bool]',
  record: 'Dict[str, Any]',
  unknown: 'Any',
}

/** Writes the classes of inner objects before those that use them. */
class Writer {
  text = ''
  readonly #names = new Set<string>()

  /** Object → the name of its class. NotRequired came with Python 3.11, so optional names are in a class of their own. */
  dictionary({ fields }: Extract<ValueType, { kind: 'object' }>, wanted: string): string {
    const name = this.#unused(wanted)
    const written = fields.map((each) => {
      const type = this.#typeText(each.type, name + pascal(each.name))
      const isPlain = each.isRequired || each.type.isNullable || each.type.kind === 'unknown'
      return { ...each, line: `${literal(each.name, 'python')}: ${isPlain ? type : `Optional[${type}]`}` }
    })
    const required = written.filter(({ isRequired }) => isRequired).map(({ line }) => line)
    const optional = written.filter(({ isRequired }) => !isRequired).map(({ line }) => line)
    if (required.length === 0 || optional.length === 0) {
      this.#declare(name, [...required, ...optional], required.length > 0)
    } else {
      const bases = [this.#unused(`${name}Required`), this.#unused(`${name}Optional`)] as const
      this.#declare(bases[0], required, true)
      this.#declare(bases[1], optional, false)
      this.text += `\nclass ${name}(${bases[0]}, ${bases[1]}):\n    pass\n\n`
    }
    return name
  }

  #declare(name: string, lines: string[], isTotal: boolean): void {
    const fields = lines.map((line) => `        ${line},\n`).join('')
    const total = isTotal ? '' : '    total=False,\n'
    this.text += `${name} = TypedDict(\n    "${name}",\n    {\n${fields}    },\n${total})\n\n`
  }

  #typeText(type: ValueType, wanted: string): string {
    const text = this.#plainText(type, wanted)
    return type.isNullable && type.kind !== 'unknown' ? `Optional[${text}]` : text
  }

  #plainText(type: ValueType, wanted: string): string {
    if (type.kind === 'object') return this.dictionary(type, wanted)
    if (type.kind === 'list') return `Sequence[${this.#typeText(type.item, `${wanted}Item`)}]`
    return PLAIN[type.kind]
  }

  #unused(wanted: string): string {
    let name = wanted
    for (let count = 2; this.#names.has(name); count++) name = `${wanted}${count}`
    this.#names.add(name)
    return name
  }
}

/** `order-shipped` → `OrderShippedVariables`, which is no keyword. */
function className(reference: string): string {
  const name = `${pascal(reference)}Variables`
  return /^[A-Z]/.test(name) ? name : `Template${name}`
}

/** Text → its ASCII letters and digits, in Pascal case; '' if it has none. */
function pascal(text: string): string {
  const words = text.match(/[A-Za-z0-9]+/g) ?? []
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
}
