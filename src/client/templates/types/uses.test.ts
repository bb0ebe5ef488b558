import { describe, expect, test } from 'bun:test'
import { Refusal } from '../../../model/refusal.ts'
import { fillTemplate, parseTemplateTexts } from '../../../sending/submission/render.ts'
import { addSample, Shape, typeOf, type ValueType } from './shape.ts'
import { addUses } from './uses.ts'

const NO_PARTS = { layout: null, partials: new Map() }

function parsed(html: string) {
  return parseTemplateTexts({ subject: null, html: `<p>x</p>${html}`, text: null })
}

function typed(html: string, sample: unknown = {}): ValueType {
  const root = new Shape()
  addSample(root, sample)
  addUses(root, parsed(html), NO_PARTS)
  return typeOf(root)
}

/** Type → words: `a: text, b?: [text]`. */
function words(type: ValueType): string {
  if (type.kind === 'list') return `[${words(type.item)}]`
  if (type.kind !== 'object') return type.kind
  return `{${type.fields.map((each) => `${each.name}${each.isRequired ? '' : '?'}: ${words(each.type)}`).join(', ')}}`
}

const CASES: [html: string, expected: string, sample?: unknown][] = [
  ['{{ a }}{{ b.c }}', '{a: text, b: {c: text}}'],
  ['{{ a | default: b }}', '{a?: text, b: unknown}'],
  ['{{ a | upcase | default: "x" }}', '{a: text}'],
  ['{% if a %}{{ a.b }}{% endif %}', '{a?: {b: text}}'],
  ['{% if a and a != "" %}{{ a }}{% endif %}', '{a?: text}'],
  ['{% if a and b %}{{ a.c }}{% endif %}', '{a?: {c?: text}, b?: unknown}'],
  ['{% if a %}x{% else %}{{ b }}{% endif %}', '{a?: unknown, b?: text}'],
  ['{% unless a %}{{ b }}{% endunless %}', '{a?: unknown, b?: text}'],
  ['{% case a %}{% when "x" %}{{ b }}{% endcase %}', '{a?: text, b?: text}'],
  ['{% if a == "x" %}y{% endif %}', '{a?: text}'],
  ['{% for x in a %}{{ x }}{% endfor %}', '{a: [text]}'],
  ['{% for x in a %}{{ x.b }}{% for y in x.c %}{{ y }}{% endfor %}{% endfor %}', '{a: [{b: text, c: [text]}]}'],
  ['{% if a.size > 0 %}{% for x in a %}{{ x.b }}{% endfor %}{% endif %}', '{a?: [{b: text}]}'],
  ['{{ a.first.b }}{% for x in a %}{{ x.c }}{% endfor %}', '{a: [{c: text, b: text}]}'],
  ['{{ a[0].b }}', '{a: [{b: text}]}'],
  ['{{ a | join: ", " }}{{ b | map: "c" | join }}', '{a: [unknown], b: [{c?: unknown}]}'],
  ['{{ a[b] }}', '{a: record, b: text}'],
  ['{% assign x = a.b %}{{ x.c }}', '{a: {b: {c: text}}}'],
  ['{% assign x = "y" %}{{ x }}{% capture z %}{{ a }}{% endcapture %}{{ z }}', '{a: text}'],
  ['{% if a %}{% assign t = "x" %}{% else %}{% assign t = "y" %}{% endif %}{{ t }}', '{a?: unknown}'],
  ['{% for i in (1..n) %}{{ i }}{% endfor %}', '{n: text}'],
  ['{{ a }}', '{a: text, b?: boolean, c?: {d?: text}}', { a: '1', b: true, c: { d: 2 } }],
  ['{{ a | json }}', '{a: {b?: text}}', { a: { b: 1 } }],
  ['{% for pair in a %}{{ pair[0] }}{% endfor %}', '{a: record}', { a: { b: 1 } }],
  ['{% if a %}x{% endif %}', '{a?: boolean}', { a: true }],
]

describe('the variables of a template', () => {
  for (const [html, expected, sample] of CASES) {
    test(`${html} has ${expected}`, () => expect(words(typed(html, sample))).toBe(expected))
  }

  test('that are required are those without which it never renders', () => {
    for (const [html, , sample] of CASES) {
      const type = typed(html, sample)
      const least = leastValue(type) as Record<string, unknown>
      // What the other branch needs is optional, because no type can express it.
      if (!/else|unless/.test(html)) fillTemplate(parsed(html), least)
      for (const [path, without] of smaller(type)) {
        expect([html, path, refusedWith(html, without)]).toEqual([html, path, expect.any(String)])
      }
    }
  })

  test('that are nested too deeply for a type have none', () => {
    const path = Array.from({ length: 3000 }, () => 'a').join('.')
    const inner = (type: ValueType, depth = 0): number =>
      type.kind === 'object' ? inner(type.fields[0]!.type, depth + 1) : depth
    expect(inner(typed(`{{ ${path} }}`))).toBe(20)
  })
})

/** A value with what is required, and nothing else. */
function leastValue(type: ValueType): unknown {
  if (type.kind === 'list') return [leastValue(type.item)]
  if (type.kind === 'object') {
    return Object.fromEntries(
      type.fields.filter((each) => each.isRequired).map((each) => [each.name, leastValue(each.type)]),
    )
  }
  return type.kind === 'record' ? { 1: 'x', b: 'x' } : type.kind === 'boolean' ? true : '1'
}

/** The same values, each without one that is required. */
function* smaller(type: ValueType): Generator<[path: string, value: unknown]> {
  if (type.kind === 'list') for (const [path, inner] of smaller(type.item)) yield [`[].${path}`, [inner]]
  if (type.kind !== 'object') return
  const whole = leastValue(type) as Record<string, unknown>
  for (const { name, type: inner, isRequired } of type.fields) {
    if (!isRequired) continue
    const { [name]: _, ...rest } = whole
    yield [name, rest]
    for (const [path, value] of smaller(inner)) yield [`${name}.${path}`, { ...whole, [name]: value }]
  }
}

/** The missing variable that the server names; null if it renders. */
function refusedWith(html: string, variables: unknown): string | null {
  try {
    fillTemplate(parsed(html), variables as Record<string, unknown>)
    return null
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return error.message
  }
}
