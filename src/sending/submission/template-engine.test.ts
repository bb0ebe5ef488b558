import { describe, expect, test } from 'bun:test'
import { expectCostUnder } from '../../../test/support/cpu-cost.ts'
import { createFilling, parseText, TemplateFault } from './template-engine.ts'

function html(source: string, variables: Record<string, unknown> = {}): string {
  return createFilling(variables)(parseText(source, 'html'))
}

function plain(source: string, variables: Record<string, unknown> = {}): string {
  return createFilling(variables)(parseText(source, 'plain'))
}

function faultOf(work: () => unknown): TemplateFault {
  try {
    work()
  } catch (error) {
    if (error instanceof TemplateFault) return error
    throw error
  }
  throw new Error('no fault')
}

describe('an inserted value', () => {
  test('is escaped in html, unless the last filter is raw', () => {
    const variables = { name: `<b>"A" & 'B'</b>` }
    expect(html('{{ name }}', variables)).toBe('&lt;b&gt;&#34;A&#34; &amp; &#39;B&#39;&lt;/b&gt;')
    expect(html('{{ name | raw }}', variables)).toBe(variables.name)
    expect(html('{{ name | raw | upcase }}', variables)).toContain('&lt;B&gt;')
  })

  test.each([
    ['{% echo x %}', '&lt;'],
    ['{% cycle x %}', '&lt;'],
    ['{% capture y %}{{ x }}{% endcapture %}{{ y | raw }}', '&lt;'],
    ['{% assign y = x %}{{ y }}', '&lt;'],
    ['{% liquid echo x %}', '&lt;'],
    ['{% for y in list %}{{ y }}{% endfor %}{{ list }}', '&lt;&lt;'],
  ])('is also escaped by %p', (source, expected) => {
    expect(html(source, { x: '<', list: ['<'] })).toBe(expected)
  })

  test('is unchanged in plain text', () => {
    expect(plain('{{ name }}', { name: 'A & <B>' })).toBe('A & <B>')
  })

  test('is written as Liquid writes it: nothing for nil, arrays joined', () => {
    expect(plain('{{ a }}|{{ b }}|{{ c }}|{{ d }}', { a: null, b: [1, null, 'x'], c: 1.5, d: false })).toBe(
      '|1x|1.5|false',
    )
  })

  test('is never [object Object]', () => {
    expect(faultOf(() => plain('{{ user }}', { user: { name: 'A' } })).message).toContain('use one of its fields')
    expect(plain('{{ user | json }}', { user: { name: 'A' } })).toBe('{"name":"A"}')
  })

  test('is a fault when a filter does not accept it', () => {
    const { message } = faultOf(() => plain('{{ user | upcase }}', { user: { toString: 1 } }))
    expect(message).toBe('a filter got a value of an unsupported type')
  })

  test('is not changed by a counter', () => {
    const variables = { n: 3 }
    expect(plain('{% increment n %}{% increment n %}', variables)).toBe('34')
    expect(variables).toEqual({ n: 3 })
  })
})

describe('a missing variable', () => {
  test.each([
    ['{{ user.name }}', {}, 'user'],
    ['{{ user.name }}', { user: {} }, 'user.name'],
    ['{% for x in items %}{% endfor %}', {}, 'items'],
    ['{% for x in items %}{{ x.price }}{% endfor %}', { items: [{}] }, 'x.price'],
    ['{% assign a = gone %}', {}, 'gone'],
    ['{{ "a" | append: gone }}', {}, 'gone'],
    ['{{ constructor }}', {}, 'constructor'],
    ['{{ __proto__ }}', {}, '__proto__'],
    ['{{ user.constructor.name }}', { user: {} }, 'user.constructor'],
    ['{{ user["__proto__"] }}', { user: {} }, 'user.__proto__'],
    ['{{ text.toString }}', { text: 'x' }, 'text.toString'],
    ['{{ list.map }}', { list: [1] }, 'list.map'],
  ])('%p with %j is named: %p', (source, variables, name) => {
    const { variable, message } = faultOf(() => html(source, variables))
    expect([variable, message]).toEqual([name, `variable ${name} is missing and has no default`])
  })

  test.each([
    ['{{ gone | default: "you" }}', 'you'],
    ['{{ user.name.first | default: "you" | upcase }}', 'YOU'],
    ['{% assign a = gone | default: "x" %}{{ a }}', 'x'],
    ['{% if gone %}a{% elsif gone.too %}b{% else %}c{% endif %}', 'c'],
    ['{% unless gone %}a{% endunless %}', 'a'],
    ['{% case gone %}{% when 1 %}a{% else %}b{% endcase %}', 'b'],
  ])('%p works without it', (source, expected) => expect(plain(source)).toBe(expected))

  test('inside a filtered array counts as nil', () => {
    const items = [{ name: 'b', old: true }, { name: 'a' }]
    expect(plain('{{ items | where: "old" | map: "name" }}{{ items | sort: "name" | map: "name" }}', { items })).toBe(
      'bab',
    )
  })

  test('is not reported when it is present and null', () => expect(plain('[{{ a.b }}]', { a: { b: null } })).toBe('[]'))
})

describe('the variables found', () => {
  test('are the external ones, in text order, each once', () => {
    const source = `{{ user.name }}{% assign mine = total %}{{ mine }}
      {% for item in order.items %}{{ item.price }}{{ forloop.index }}{{ currency }}{% endfor %}
      {% if vip == true %}{{ user.name | append: suffix }}{% endif %}{% for i in (1..count) %}{% endfor %}{{ gone | default: other }}`
    expect(parseText(source, 'html').variables).toEqual([
      'user.name',
      'total',
      'order.items',
      'currency',
      'vip',
      'suffix',
      'count',
      'gone',
      'other',
    ])
  })
})

describe('an invalid template', () => {
  test.each([
    ['one\n  {{ name ', 2, 3, 'not closed'],
    ['one\ntwo {% if x %}', 2, 5, 'not closed'],
    ['{% nonsense %}', 1, 1, 'not found'],
    ['\n\n{{ x | nonsense }}', 3, 1, 'undefined filter: nonsense'],
    ['{{ x | where_exp: "a", "b" }}', 1, 1, 'undefined filter'],
    ['{% if x %}{% endfor %}', 1, 11, 'not found'],
    ['a {% include "x" %}', 1, 3, 'is not available'],
    ['{% render "/etc/passwd" %}', 1, 1, 'needs the alias of a partial'],
    ['{% layout "x" %}', 1, 1, 'is not available'],
    ['{% block x %}{% endblock %}', 1, 1, 'is not available'],
  ])('%p is reported with its position', (source, line, column, message) => {
    const fault = faultOf(() => parseText(source, 'html'))
    expect([fault.line, fault.column]).toEqual([line, column])
    expect(fault.message).toContain(message)
    expect(fault.message).not.toContain('line:')
  })

  test.each([
    ['too long', 'x'.repeat(262_145), 'longer than'],
    ['blocks in blocks', '{% if x %}'.repeat(101), 'nested'],
    ['lines of one liquid tag', `{% liquid\n${'if 1\n'.repeat(1000)}%}`, 'nested'],
    ['brackets in brackets', `{{ a${'[a'.repeat(6000)}${']'.repeat(6000)} }}`, 'nested'],
    ['ranges in ranges', `{% for i in ${'('.repeat(4000)}1 %}`, 'nested'],
    ['tags', '{{ a }}'.repeat(5001), 'at most'],
    ['one tag', `{% case a %}{% when ${'b,'.repeat(20_000)}b %}{% endcase %}`, 'at most'],
  ])('exceeds a limit: %s', (_, source, message) => {
    expect(faultOf(() => parseText(source, 'html')).message).toContain(message)
  })

  test('is rejected in linear time', async () => {
    const many = ['{', '{{', '{%', '{% raw %}{% ', '{{ "\\"', '{% comment %}{{a}}', '{{ a | "']
    for (const piece of many) {
      const source = piece.repeat(Math.floor(262_144 / piece.length))
      await expectCostUnder(SLOW_MS, () => faultOf(() => parseText(source, 'html')), 1)
    }
  })

  test('is parsed in linear time, also the longest valid one', async () => {
    const source = `{% if ${'abc == d and '.repeat(1500)} e %}{% endif %}`.repeat(12)
    await expectCostUnder(SLOW_MS, () => parseText(source, 'html'), 1)
  })
})

/** Far above the usual cost; without limits most of these never end. */
const SLOW_MS = 4_000

const doubled = (tag: string) => tag.repeat(150)
const LONG = 'ab'.repeat(20_000)
const SEARCHED = `${'ab'.repeat(10_000)}bb`
const ONES = Array(20_000).fill(1)

describe('a hostile template', () => {
  test.each<[name: string, source: string, variables: Record<string, unknown>]>([
    ['counts to a hundred million', '{% for i in (1..100000000) %}x{% endfor %}', {}],
    ['counts where adding one changes nothing', '{% for i in (a..b) %}x{% endfor %}', { a: 2 ** 53, b: 2 ** 53 + 2 }],
    ['hides such a range in a filter', '{{ a | where: "b[(9007199254740992..9007199254740994)]" }}', { a: [{}] }],
    ['loops in loops', '{% for i in (1..100000) %}{% for j in (1..100000) %}x{% endfor %}{% endfor %}', {}],
    ['loops over nothing', '{% for i in (1..100000) %}{% endfor %}'.repeat(200), {}],
    ['renders a huge table', '{% tablerow i in (1..100000) cols: 1 %}x{% endtablerow %}', {}],
    ['repeats long words', `{% for i in (1..100000) %}${'x'.repeat(100_000)}{% endfor %}`, {}],
    ['doubles a string', `{% assign a = "aaaa" %}${doubled('{% assign a = a | append: a %}')}{{ a }}`, {}],
    [
      'doubles a string by capture',
      `{% assign a = "aaaa" %}${doubled('{% capture a %}{{ a }}{{ a }}{% endcapture %}')}`,
      {},
    ],
    [
      'and without escaping',
      `{% assign a = "aaaa" %}${doubled('{% capture a %}{{ a | raw }}{{ a | raw }}{% endcapture %}')}`,
      {},
    ],
    ['doubles an array', `${doubled('{% assign a = a | concat: a %}')}{{ a | sort }}`, { a: ['b', 'a'] }],
    ['replaces letters by texts', '{{ a | replace: "a", a | replace: "b", a | replace: "a", a }}', { a: LONG }],
    ['pads a date', '{{ "now" | date: "%1000000000d" }}', {}],
    ['formats many dates', '{% for i in (1..9999) %}{{ a | date: "%Z" }}{% endfor %}', { a: '2026-11-21' }],
    ['escapes what is escaped', `{{ a ${'| url_encode '.repeat(1400)} }}`, { a: 'ü'.repeat(30_000) }],
    ['sorts letters', '{{ a | split: "" | sort | join: "" }}', { a: LONG }],
    ['asks for a property of thousand parts', '{{ a | map: b }}', { a: Array(5000).fill({}), b: 'a.'.repeat(5000) }],
    [
      'compares arrays',
      `{% case a %}${'{% when b %}'.repeat(4900)}{% endcase %}`,
      { a: ONES, b: [...ONES.slice(1), 2] },
    ],
    [
      'compares them in one condition',
      `{% if ${'a == b and '.repeat(1500)} a %}{% endif %}`,
      { a: ONES, b: [...ONES.slice(1), 2] },
    ],
    [
      'searches what is nearly everywhere',
      `{% if ${'a contains b and '.repeat(1000)} a %}{% endif %}`,
      { a: LONG, b: SEARCHED },
    ],
    ['replaces what is nearly everywhere', '{{ a | replace: b, "x" }}', { a: LONG, b: SEARCHED }],
    ['splits by a long string', '{{ a | split: b }}', { a: LONG, b: SEARCHED }],
    [
      'slugifies without end',
      '{% for i in (1..100000) %}{{ a | slugify: "latin" }}{% endfor %}',
      { a: 'é<'.repeat(6000) },
    ],
  ])('that %s is stopped', async (_, source, variables) => {
    const parsed = parseText(source, 'html')
    const before = process.memoryUsage().rss
    let message = ''
    await expectCostUnder(
      SLOW_MS,
      () => {
        message = faultOf(() => createFilling(variables)(parsed)).message
      },
      1,
    )
    expect(message).toMatch(/rendering budget of a message|a range must be|accepts no argument/)
    expect(process.memoryUsage().rss - before).toBeLessThan(300_000_000)
  })

  test('may not search for more than 256 characters', () => {
    const source = '{{ a | split: b | join: "," }}'
    const fill = (length: number) => () =>
      createFilling({ a: 'xyz', b: 'n'.repeat(length) })(parseText(source, 'plain'))
    expect(fill(256)()).toBe('xyz')
    expect(faultOf(fill(257)).message).toContain('accepts no argument of more than 256 characters')
  })

  test('may add long texts, whose length is charged', () => {
    const variables = { a: 'x', b: 'n'.repeat(257), none: null }
    const filled = (filter: string) => createFilling(variables)(parseText(`{{ ${filter} }}`, 'plain'))
    expect(filled('a | append: b')).toBe(`x${variables.b}`)
    expect(filled('a | prepend: b')).toBe(`${variables.b}x`)
    expect(filled('none | default: b')).toBe(variables.b)
    for (const filter of ['replace', 'replace_first', 'replace_last']) {
      expect(filled(`a | ${filter}: "x", b`)).toBe(variables.b)
      expect(faultOf(() => filled(`a | ${filter}: b, "y"`)).message).toContain('accepts no argument')
    }
  })

  test('charges the texts in an array and in an object to the budget', () => {
    const source = '{{ a | size }}'.repeat(150)
    const filled = (length: number) => {
      const texts = Array.from({ length: 100 }, () => 'x'.repeat(length))
      return createFilling({ a: texts.map((text) => ({ text: [text] })) })(parseText(source, 'plain'))
    }
    expect(filled(1)).toBe('100'.repeat(150))
    expect(faultOf(() => filled(1_000)).message).toContain('rendering budget')
  })

  test('charges all its texts to one budget', () => {
    const parsed = parseText('{% for i in (1..40000) %}x{% endfor %}', 'plain')
    const fill = createFilling({})
    expect(fill(parsed).length).toBe(40_000)
    expect(faultOf(() => fill(parsed)).message).toContain('rendering budget')
  })
})

test('a long newsletter stays far below the limit', () => {
  const rows = Array.from({ length: 500 }, (_, i) => ({ name: `Item ${i}`, price: i * 1.5, note: '<new>' }))
  const row = '<tr><td>{{ forloop.index }}</td><td>{{ row.name }}</td><td>{{ row.price | round: 2 }}</td></tr>'
  const source = `${'<p>words</p>'.repeat(8000)}{% for row in rows %}${row}{% endfor %}`
  const fill = createFilling({ rows })
  for (let again = 0; again < 5; again++) expect(fill(parseText(source, 'html'))).toContain('Item 499')
})
