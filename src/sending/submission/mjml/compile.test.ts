import { describe, expect, test } from 'bun:test'
import { expectCostUnder } from '../../../../test/support/cpu-cost.ts'
import { Refusal } from '../../../model/refusal.ts'
import { fillTemplate, parseTemplateTexts } from '../render.ts'
import { compileMjml, loadMjml } from './compile.ts'

const library = await loadMjml()
const compile = (source: string) => compileMjml(source, '', library)
const document = (body: string, head = '') => `<mjml><mj-head>${head}</mj-head>\n<mj-body>\n${body}\n</mj-body></mjml>`
const column = (inside: string, head = '') =>
  document(`<mj-section><mj-column>\n${inside}\n</mj-column></mj-section>`, head)

const refusalOf = async (source: string) => {
  const error = await compile(source).then(
    () => null,
    (thrown) => thrown,
  )
  if (!(error instanceof Refusal)) throw error ?? new Error('it was compiled')
  return `${error.details?.line}: ${error.faults?.[0]?.message.replace(/^mjml is not valid MJML(?: at line \d+)?: /, '')}`
}

describe('MJML', () => {
  test('becomes html with the standard components, inlined CSS and attributes of elements', async () => {
    const head = `<mj-title>Receipt</mj-title><mj-preview>Thanks</mj-preview>
      <mj-attributes><mj-text color="#111111" /><mj-class name="big" font-size="30px" /></mj-attributes>
      <mj-style>.plain { margin: 1px }</mj-style><mj-style inline="inline">.note p { color: green }</mj-style>
      <mj-html-attributes><mj-selector path=".note div"><mj-html-attribute name="data-x">7</mj-html-attribute></mj-selector></mj-html-attributes>`
    const html = await compile(
      column(
        '<mj-text css-class="note" mj-class="big"><p>a &lt; b</p></mj-text><mj-button href="https://a.example/?a=1&b=2">Go</mj-button>',
        head,
      ),
    )
    expect(html).toStartWith('<!doctype html>')
    expect(html).toContain('<title>Receipt</title>')
    expect(html).toMatch(/<div[^>]*font-size:30px[^>]*color:#111111[^>]*data-x="7"/)
    expect(html).toContain('<p style="color: green;">a &lt; b</p>')
    expect(html).toContain('.plain { margin: 1px }')
    expect(html).toContain('href="https://a.example/?a=1&b=2"')
    expect(html).toContain('<!--[if mso | IE]>')
    expect(html).not.toMatch(/<mj|mjml/)
  })

  test('keeps Liquid in text, attributes, CSS and around elements', async () => {
    const html = await compile(
      `{% assign greeting = "Hi" %}${document(
        `{% if items %}<mj-section>{% for item in items %}<mj-column>
          <mj-text color="{{ brand | default: "#00f" }}">{{ greeting }} {{ item.name }} {% if item.price < 5 %}cheap{% endif %}</mj-text>
          <mj-button href="{{ item.url | default: "https://shop.example/" }}">Buy</mj-button>
          <mj-raw><i {{ item.attribute }}>{{- item.note -}}</i></mj-raw>
        </mj-column>{% endfor %}</mj-section>{% endif %}`,
        '<mj-title>{{ title }}</mj-title><mj-style inline="inline">div { margin: {{ margin }} }</mj-style>',
      )}{% comment %}end{% endcomment %}`,
    )
    const items = [
      { name: '<Ann>', price: 3, attribute: 'x', note: 'n' },
      { name: 'Bob', price: 9, url: 'https://b.example/', attribute: 'y', note: 'm' },
    ]
    const parsed = parseTemplateTexts({ subject: null, html, text: null })
    const shown = fillTemplate(parsed, { items, title: 'T', margin: '2px' }).html!
    expect(shown.match(/Hi (&lt;Ann&gt; cheap|Bob )/g)).toEqual(['Hi &lt;Ann&gt; cheap', 'Hi Bob '])
    expect(shown.match(/href="[^"]*"/g)).toEqual(['href="https://shop.example/"', 'href="https://b.example/"'])
    expect(shown.match(/<i .>.<\/i>/g)).toEqual(['<i x>n</i>', '<i y>m</i>'])
    expect(shown.match(/color: ?#00f;/g)).toHaveLength(2)
    expect(shown).toContain('<title>T</title>')
    expect(shown).toContain('margin: 2px')
  })

  test('loads no fonts but those of mj-font', async () => {
    const text = '<mj-text font-family="Roboto, My Font, Arial">x</mj-text>'
    expect(await compile(column(text))).not.toContain('fonts.googleapis.com')
    const html = await compile(column(text, '<mj-font name="My Font" href="https://f.example/f.css" />'))
    expect(html).toContain('<link href="https://f.example/f.css" rel="stylesheet" type="text/css">')
    expect(
      await compile(column('<mj-text>x</mj-text>', '<mj-font name="My Font" href="https://f.example/f.css" />')),
    ).not.toContain('f.example')
  })

  test.each([
    ['an unclosed element', column('<mj-text>x'), '5: </mj-column> cannot close mj-text'],
    ['an unknown element', column('\n<mj-foo>x</mj-foo>'), '5: there is no element mj-foo'],
    ['an element of the language', column('<mj-constructor/>'), '4: there is no element mj-constructor'],
    [
      'a misplaced element',
      document('<mj-text>x</mj-text>'),
      '3: mj-text cannot be used inside mj-body, only inside: mj-attributes, mj-column, mj-hero',
    ],
    ['HTML between elements', column('<p>x</p>'), '4: <p> is HTML, which must be inside mj-text or mj-raw'],
    ['text between elements', column('\nx'), '5: text must be inside mj-text or mj-raw'],
    ['an element in text', column('<mj-text><mj-divider/></mj-text>'), '4: mj-divider cannot be used inside mj-text'],
    ['another root', '<html></html>', '1: <html> is HTML, which must be inside mj-text or mj-raw'],
    ['no element', ' ', '1: the document must be one mjml element'],
    ['no body', '<mjml>\n<mj-head/></mjml>', '1: the document has no mj-body'],
    ['two documents', document('') + document(''), '4: the document must be one mjml element'],
    ['an open comment', column('<!-- x'), '4: a comment is not closed'],
    ['an open value', column('<mj-text color="red>x</mj-text>'), '4: the value of an attribute is not closed'],
    ['an open style', column('<mj-raw><style>a</mj-raw>'), '4: <style> is not closed'],
    ['an include', column('\n<MJ-Include path="/etc/passwd" type="html"/>'), '5: mj-include is not available'],
    [
      'an include in text',
      column('<mj-text><mj-include path="/etc/passwd"/></mj-text>'),
      '4: mj-include is not available',
    ],
    [
      'an include behind letters that are longer in lower case',
      column(`<mj-text>${'İ'.repeat(60)}<script>x</script><mj-include path="/etc/passwd"/></mj-text>`),
      '4: mj-include is not available',
    ],
    [
      'a fault of Liquid',
      column('{% if\nx %}{% endif %}\n<mj-text>{{ x | nofilter }}</mj-text>'),
      '6: undefined filter: nofilter',
    ],
    ['a fault after Liquid of two lines', column('{% if\nx %}{% endif %}\n<mj-foo/>'), '6: there is no element mj-foo'],
    [
      'Liquid that would be lost',
      column('<mj-text {% if x %}color="red"{% endif %}>x</mj-text>'),
      '4: MJML does not use {% if x %} here',
    ],
    [
      'Liquid in a length',
      column('<mj-image width="{{ w }}" src="x"/>'),
      '4: mj-image: Attribute width has invalid value: {{ w }}. A length cannot contain Liquid',
    ],
    [
      'Liquid where nothing is shown',
      document('<mj-section><mj-column><mj-carousel>{{ x }}</mj-carousel></mj-column></mj-section>'),
      '3: Liquid cannot be used directly inside mj-carousel',
    ],
    ['too many elements', document('<mj-section/>'.repeat(1001)), '3: it has more than 1000 elements'],
    ['deep elements', document('<mj-wrapper>'.repeat(21)), '3: elements are nested more than 20 deep'],
    [
      'a long html',
      document('<mj-section><mj-column><mj-text>x</mj-text></mj-column></mj-section>'.repeat(180)),
      'null: its html is longer than 262144 characters',
    ],
    ['a long text', document(' '.repeat(2 ** 18)), 'null: it is longer than 262144 characters'],
    [
      'a font that is a pattern',
      document('', '<mj-font name="(a+)+" href="x"/>'),
      '1: the name of a font must have 1 to 60 letters, digits, spaces and hyphens',
    ],
    [
      'a long value',
      column(`<mj-image src="x" width="${'a'.repeat(1001)}1"/>`),
      '4: mj-image: width is longer than 1000 characters',
    ],
    [
      'a head for too many elements',
      column(
        `<mj-text>${'<b></b>'.repeat(6_000)}</mj-text>`,
        `<mj-style inline="inline">*{${'a:b;'.repeat(5_000)}}</mj-style>`,
      ),
      '1: mj-head is too long for so many elements',
    ],
  ])('with %s is refused with the line and the reason', async (_, source, message) => {
    expect(await refusalOf(source)).toBe(message)
  })

  test('changes nothing that other documents share', async () => {
    const head = `<mj-attributes><mj-class name="__proto__" polluted="1"/><mj-all polluted="1"/></mj-attributes><mj-font name="__proto__" href="x"/>`
    const before = await compile(column('<mj-text>x</mj-text>'))
    await compile(column('<mj-text>x</mj-text>', head))
    expect(({} as { polluted?: string }).polluted).toBeUndefined()
    expect(await compile(column('<mj-text>x</mj-text>'))).toBe(before)
  })

  test('takes attributes that the library ignores, as existing documents have them', async () => {
    expect(await compile(column('<mj-text padding="20" unknown="1">x</mj-text>'))).toContain('>x</div>')
  })

  test.each([
    [
      'open braces',
      column(
        `<mj-text>{% raw %}${'{{'.repeat(20_000)}{% endraw %}</mj-text>`,
        '<mj-style inline="inline">.a{b:c}</mj-style>',
      ),
    ],
    ['font families', column(`<mj-text>"${'font-family:'.repeat(10_000)}"</mj-text>`, '<mj-font name="zz" href="x"/>')],
    ['comments for Outlook', column(`<mj-raw>${'<!--[if x>-->'.repeat(10_000)}</mj-raw>`)],
    ['white space', column(`<mj-raw><!--[if mso]>${' '.repeat(100_000)}x<![endif]--></mj-raw>`)],
    [
      'a variable of CSS',
      column('<mj-text>x</mj-text>', `<mj-style inline="inline">div{color:var(${','.repeat(5_000)}</mj-style>`),
    ],
  ])('with many %s is compiled in a time that grows with its length', async (_, source) => {
    // Some milliseconds; the regular expressions of the library take seconds to minutes.
    await expectCostUnder(1_500, () => compile(source))
  })
})
