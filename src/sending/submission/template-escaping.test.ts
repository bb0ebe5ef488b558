import { describe, expect, test } from 'bun:test'
import { createFilling, type ParsedText, parseText } from './template-engine.ts'

const EVIL = `<script>"'&`
const ONCE = '&lt;script&gt;&#34;&#39;&amp;'
const variables = {
  evil: EVIL,
  name: 'Tom & Jerry',
  entity: '&lt;',
  list: ['a & b', 'c'],
  note: 'a<b\nc',
  nothing: '',
  trusted: '<i>x</i>',
}

function filled(source: string, kind: 'html' | 'plain' = 'html'): string {
  return createFilling(variables)(parseText(source, kind))
}

const captured = (inside: string) => `{% capture x %}${inside}{% endcapture %}`

describe('a value in html is escaped once', () => {
  test.each([
    [`${captured('{{ evil }}')}{{ x }}`, ONCE],
    [`${captured('<b>{{ name }}</b>')}{{ x }}`, '<b>Tom &amp; Jerry</b>'],
    [`${captured('{{ name }}')}${captured('<i>{{ x }}</i>')}{{ x }}`, '<i>Tom &amp; Jerry</i>'],
    [`${captured('<b>{{ name }}</b>')}{% assign y = x %}{% echo y %}{% cycle y %}`, '<b>Tom &amp; Jerry</b>'.repeat(2)],
    [`${captured('<b>{{ name }}</b>')}{{ x | raw }}`, '<b>Tom &amp; Jerry</b>'],
    [`${captured('{% for i in list %}<li>{{ i }}</li>{% endfor %}')}{{ x }}`, '<li>a &amp; b</li><li>c</li>'],
    [`${captured('{% if name %}{% echo name %}{% endif %}')}{{ x }}`, 'Tom &amp; Jerry'],
    [
      `${captured('{{ name }}')}{% for y in x %}{{ y }}{% endfor %}{% for y in nothing %}{{ y }}{% endfor %}`,
      'Tom &amp; Jerry',
    ],
    [`${captured('<b>')}{{ nothing | default: x }}{{ x | default: evil }}`, '<b><b>'],
    [`${captured('')}{{ x | default: evil }}`, ONCE],
    ['{{ evil | escape }}', ONCE],
    ['{{ evil | xml_escape }}', ONCE],
    ['{{ "&lt;<" | escape_once }}', '&lt;&lt;'],
    ['{{ evil | escape | escape }}', ONCE],
    ['{{ evil | escape | raw }}', ONCE],
    ['{% assign y = evil | escape %}{{ y }}', ONCE],
    ['{{ note | newline_to_br }}', 'a&lt;b<br />\nc'],
    ['{{ note | escape | newline_to_br }}', 'a&lt;b<br />\nc'],
    [`${captured(' <b>{{ name }}</b> ')}{{ x | strip }}`, '<b>Tom &amp; Jerry</b>'],
    [
      `{% assign all = "" %}${captured('<li>{{ name }}</li>')}{% assign all = all | append: x | append: x %}{{ all }}`,
      '<li>Tom &amp; Jerry</li>'.repeat(2),
    ],
    [`${captured('{{ list | join: "|" }}')}{{ x | split: "|" | join: ", " }}`, 'a &amp; b, c'],
    [`${captured('{{ name }}')}{{ x | truncate: 7 }}`, 'Tom ...'],
    [`${captured('{{ name }}')}{{ x | upcase }}`, 'TOM &amp; JERRY'],
    [`${captured('<b>{{ name }}</b>')}{{ x | strip_html }}`, 'Tom &amp; Jerry'],
    [
      `${captured('{{ name }};{{ list[0] }}')}{% assign y = x | split: ";" %}{{ y[0] }}{{ y | last }}`,
      'Tom &amp; Jerrya &amp; b',
    ],
    [`${captured('<br>')}{{ list | join: x }}`, 'a &amp; b<br>c'],
    [`${captured('<i>{{ name }}</i>')}{{ list | join: x }}`, 'a &amp; b<i>Tom &amp; Jerry</i>c'],
    ['{% assign y = list | join: "<br>" | escape %}{{ y }}', 'a &amp; b&lt;br&gt;c'],
    [`${captured('<br>')}{{ note | replace: "c", x }}`, 'a&lt;b\n<br>'],
    [`${captured('<br>')}{{ entity | replace: "lt", x }}`, '&amp;<br>;'],
    [`${captured('<br>')}{{ "<a<a" | replace_first: "<", x }}`, '<br>a&lt;a'],
    [`${captured('<br>')}{{ "<a<a" | replace_last: "<", x }}`, '&lt;a<br>a'],
    [`${captured('{{ evil }}')}{{ "x" | replace: "x", x }}`, ONCE],
    ['{{ note | newline_to_br | strip_newlines }}', 'a&lt;b<br />c'],
    [`${captured('<p>\n{{ name }}\n</p>')}{{ x | strip_newlines }}`, '<p>Tom &amp; Jerry</p>'],
    [`${captured('{{ entity }}')}{{ x }}{{ x | downcase }}{{ x | escape }}`, '&amp;lt;'.repeat(3)],
  ])('%p', (source, expected) => expect(filled(source)).toBe(expected))

  test.each([
    [`${captured('{{ evil | raw }}')}{{ x }}`, ONCE],
    [`${captured('<b>{{ evil | raw }}</b>')}{{ x }}`, `<b>${ONCE}</b>`],
    [`${captured('{{ list | raw }}')}{{ x }}`, 'a &amp; bc'],
    [`${captured('{% cycle evil | raw %}{% echo evil | raw %}')}{{ x }}`, ONCE + ONCE],
    [`${captured('{{ evil | raw }}')}${captured('{{ x }}')}{{ x | raw }}`, ONCE],
    [`${captured('<b>')}{{ x | append: evil }}`, `<b>${ONCE}`],
    [`${captured('<b>')}{{ x | prepend: evil }}`, `${ONCE}<b>`],
    [`${captured('<b>')}{{ evil | append: x }}`, `${ONCE}<b>`],
    [`${captured('{{ evil | raw }}')}{{ evil | append: x }}`, ONCE + ONCE],
    [`${captured('a')}{{ x | replace: "a", evil }}`, ONCE],
    [`${captured('<b>{{ name }}')}{{ x | replace: "b", evil }}`, `&lt;${ONCE}&gt;Tom &amp; Jerry`],
    [`${captured('a,b')}{{ x | split: "," | join: evil }}`, `a${ONCE}b`],
    [`${captured('a,b')}{{ x | split: "," | concat: list | first | append: evil }}`, `a${ONCE}`],
    [`${captured('<a title="{{ name }}">')}{{ x | split: '"' }}`, '&lt;a title=Tom &amp; Jerry&gt;'],
    [`${captured('a "{{ name }}"')}{{ x | escape }}`, 'a &#34;Tom &amp; Jerry&#34;'],
    [`${captured('<b>')}{{ x | slice: 0, 2 }}`, '&lt;b'],
    [`${captured('a')}{{ x | url_encode | append: evil }}`, `a${ONCE}`],
    [`${captured('5 < ')}{{ x | strip }}script`, '5 &lt;script'],
    [`${captured('<\n{{ name }}')}{{ x | strip_newlines }}`, '&lt;Tom &amp; Jerry'],
    ['{% assign y = evil | raw %}{{ y }}{{ y | append: y }}', ONCE.repeat(3)],
    ['{{ evil | escape | replace: "&lt;", "<" }}', '&lt;script&gt;&#34;&#39;&amp;'],
    ['{{ evil | escape | url_decode }}', ONCE],
    ['{{ evil | base64_encode | base64_decode }}', ONCE],
    ['{{ evil | escape | append: evil }}', ONCE + ONCE],
    ['{{ evil | newline_to_br | append: evil }}', ONCE + ONCE],
  ])('and never comes out unescaped: %p', (source, expected) => expect(filled(source)).toBe(expected))

  test('also across partials and the layout', () => {
    const partial = parseText('<p>{{ note }}{{ extra }}</p>', 'html')
    const layout = parseText('<main>{{ content }}</main>{{ evil }}', 'html')
    const parts = { layout, partials: new Map<string, ParsedText>([['p', partial]]) }
    const text = parseText(`${captured('<b>{{ name }}</b>')}{% render "p", note: x, extra: evil %}`, 'html')
    expect(createFilling(variables)(text, parts)).toBe(`<main><p><b>Tom &amp; Jerry</b>${ONCE}</p></main>${ONCE}`)
    const inside = parseText(`${captured('{% render "p", note: name, extra: evil %}')}{{ x }}`, 'html')
    expect(createFilling(variables)(inside, parts)).toContain(`<p>Tom &amp; Jerry${ONCE}</p>`)
    const raw = { layout: null, partials: new Map([['p', parseText('{{ note | raw }}', 'html')]]) }
    const around = parseText(`${captured('{% render "p", note: evil %}')}{{ x }}`, 'html')
    expect(createFilling(variables)(around, raw)).toBe(ONCE)
  })

  test('and a variable of the message cannot pass for escaped', () => {
    const posed = { x: { text: EVIL, html: EVIL }, content: EVIL }
    const fill = createFilling(posed)
    expect(fill(parseText('{{ x.html }}{{ content }}', 'html'))).toBe(ONCE + ONCE)
  })
})

describe('a captured text', () => {
  test.each([
    ['{% if x == "Tom &amp; Jerry" %}y{% endif %}', 'y'],
    ['{% if x contains "Jerry" %}y{% endif %}', 'y'],
    ['{% case x %}{% when "Tom &amp; Jerry" %}y{% endcase %}', 'y'],
    ['{% unless x == empty %}y{% endunless %}', 'y'],
    ['{{ x | size }} {{ x.size }}', '15 15'],
    ['{{ x | json }}', '&#34;Tom &amp; Jerry&#34;'],
    ['{% assign list = x | split: " " %}{% if list contains "Tom" %}y{% endif %}{{ list | sort }}', 'y&amp;JerryTom'],
  ])('is a text in %p', (source, expected) => expect(filled(captured('{{ name }}') + source)).toBe(expected))

  test('is a number where one is needed', () => {
    expect(filled(`${captured('2')}{{ x | plus: 1 }}{{ 1 | plus: x }}{% for i in (1..x) %}i{% endfor %}`)).toBe('33ii')
  })

  test('of a plain text is not escaped at all', () => {
    expect(filled(`${captured('{{ evil }}')}{{ x }}{{ x | append: evil }}`, 'plain')).toBe(EVIL.repeat(3))
    expect(filled('{{ "<" | escape }}{{ "&lt;" | escape_once }}', 'plain')).toBe('&lt;&lt;')
  })
})
