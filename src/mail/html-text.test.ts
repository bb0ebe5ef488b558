import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { decodeEntities } from './html-entities.ts'
import { textFromHtml } from './html-text.ts'

describe('html', () => {
  test.each([
    ['', ''],
    ['plain', 'plain'],
    ['<p>One</p><p>Two</p>', 'One\n\nTwo'],
    ['<div>One</div>\n<div>Two</div>', 'One\nTwo'],
    ['One<br>Two<br/><br />Three<br><br><br><br>Four', 'One\nTwo\n\nThree\n\nFour'],
    ['  a \n  b\t<b> c</b> d<i>e</i>', 'a b c de'],
    ['<a href="https://x.example/?a=1&amp;b=2">See it</a>.', 'See it (https://x.example/?a=1&b=2).'],
    ["<A HREF='https://x.example'>https://x.example</A>", 'https://x.example'],
    ['<a href=mailto:a@x.example>a@x.example</a>', 'a@x.example'],
    ['<a href="#top">Top</a> <a href="javascript:alert(1)">x</a> <a>y</a>', 'Top x y'],
    ['<a data-href="https://no.example" title="a > b" href="https://x.example">T</a>', 'T (https://x.example)'],
    ['<a href="https://x.example"><div>Button</div></a><p>Next</p>', 'Button (https://x.example)\n\nNext'],
    ['<a href="https://x.example"><img src="a.png"></a>', 'https://x.example'],
    ['<a href="https://x.example"><img alt="Logo &amp; co"></a>', 'Logo & co (https://x.example)'],
    [
      '<a href="https://a.example">one <a href="https://b.example">two',
      'one (https://a.example) two (https://b.example)',
    ],
    [
      '<ul><li>one</li><li>two<ol><li>x<li>y</ol></li><li>three</ul>after',
      '- one\n- two\n1. x\n2. y\n- three\n\nafter',
    ],
    ['<table><tr><th>Item</th><th>Price</th></tr><tr><td>Tea</td><td>3 €</td></tr></table>', 'Item Price\nTea 3 €'],
    ['<pre>a\n  b\n\nc</pre>d', 'a\n  b\n\nc\n\nd'],
    ['a\f\r\n b\vc', 'a b\vc'],
    ['a<hr>b', 'a\n---\nb'],
    ['<title>T</title><style>p{}</style><script>if (a < b) "</p>"</script><!-- c > d --><!doctype html>x<?php ?>', 'x'],
    ['<!--[if mso]><p>no</p><![endif]-->yes', 'yes'],
    ['<SCRIPT>a</SCRIPT >b', 'b'],
    ['1 < 2 & 3 > 2 <3 a<b', '1 < 2 & 3 > 2 <3 a'],
    ['<p>Preview&zwnj;&nbsp;&zwnj;&nbsp;&#847; </p><p>&nbsp;</p>Text', 'Preview\n\nText'],
    ['soft&shy;hyphen 10&nbsp;EUR', 'softhyphen 10 EUR'],
    ['<p title="unclosed>x</p>', 'x'],
    ["<p title='a > b'>x</p> <p title=it's>y</p><p title='>z</p>", 'x\n\ny\n\nz'],
    ['a</p></p></div></ul></ol></pre></a>b', 'a\n\nb'],
    ['<unknown-element>x</unknown-element>', 'x'],
    ['x<script>never closed', 'x'],
    ['👩‍👩‍👧 שלום', '👩‍👩‍👧 שלום'],
  ])('%j becomes %j', (html, text) => expect(textFromHtml(html)).toBe(text))

  test.each([1_023, 1_024, 1_025, 17_000])('keeps text of %d characters, in a link or a list too', (size) => {
    const words = 'word '.repeat(size / 5).padEnd(size - 1, 'x')
    for (const text of [`${words}.`, `${words}é`]) {
      expect(textFromHtml(`<p>${text}</p><p>${text}</p>`)).toBe(`${text}\n\n${text}`)
      expect(textFromHtml(`<a href="https://x.example"><b>a</b> ${text}</a>`)).toBe(`a ${text} (https://x.example)`)
      expect(textFromHtml(`<ul><li>${text}<li>a</ul>`)).toBe(`- ${text}\n- a`)
      expect(textFromHtml(`<a href="mailto:${text}">${text}</a>`)).toBe(text)
    }
  })

  test('of any kind gives text without an error', () => {
    const bits = fc.constantFrom(
      '<',
      '>',
      '/',
      '"',
      "'",
      '=',
      '&',
      ';',
      '#',
      'a',
      'href',
      ' ',
      '\n',
      '<a href="',
      '<pre>',
      '</pre>',
      '<li>',
      '<ol>',
      '</ol>',
      '<script>',
      '<!--',
      '-->',
      '<br>',
      '<p>',
      '&#x41;',
      '&amp',
      '\0',
      '\ud800',
    )
    fc.assert(
      fc.property(
        fc.array(bits).map((all) => all.join('')),
        (html) => {
          const text = textFromHtml(html)
          expect(text).toBe(text.trim())
          expect(text).not.toMatch(/\r|\n{3}/)
        },
      ),
      { numRuns: 2000, seed: 9 },
    )
  })

  test('in a short piece of text is read like in a long one', () => {
    const bits = fc.constantFrom('a', 'Tea', ' ', '\n', '\t', '&nbsp;', '&amp;', '&', ';', '<', 'é', '\x01', '\x7f')
    const long = 'x'.repeat(200)
    fc.assert(
      fc.property(
        fc.array(bits, { maxLength: 8 }).map((all) => all.join('')),
        (piece) => {
          fc.pre(!/<[a-z]/i.test(piece))
          const text = textFromHtml(`b ${piece}`)
          expect(textFromHtml(`b ${piece} ${long}`)).toBe(`${text} ${long}`)
        },
      ),
      { numRuns: 2000, seed: 9 },
    )
  })

  test('that is long keeps every word and the separators', () => {
    const rows = Array.from({ length: 3000 }, (_, n) => n)
    const html = rows.map((n) => `<tr><td>Item ${n}</td><td>f\u00fcr <b>you</b></td></tr>`).join('')
    expect(textFromHtml(html)).toBe(rows.map((n) => `Item ${n} f\u00fcr you`).join('\n'))
    expect(textFromHtml('<p>word</p>'.repeat(5000))).toBe(Array(5000).fill('word').join('\n\n'))
  })

  test('that is hostile is read once, and only its first half megabyte', () => {
    for (const unit of [
      '<a href="',
      '<',
      '<a b=\'"',
      '<div>',
      '&#x',
      '<!',
      '<script></script',
      '<ul><li>',
      '<a href="http://x">',
      "='",
    ]) {
      expect(textFromHtml(unit.repeat(300_000)).length).toBeLessThan(2_000_000)
    }
    expect(textFromHtml('x'.repeat(10_000_000))).toHaveLength(524_288)
  })
})

test.each([
  ['&amp;&lt;&gt;&quot;&apos;&#39;&#x27;', "&<>\"'''"],
  ['&uuml;&Uuml;&yuml;&nbsp;&euro;&hellip;', 'üÜÿ\u00a0€…'],
  ['&copy 2026 &unknown; &; & &#; &#x; &#xZ', '© 2026 &unknown; &; & &#; &#x; &#xZ'],
  ['&#128512;&#x1F600;', '😀😀'],
  ['&#0;&#xD800;&#x110000;&#99999999;&#1;', '\ufffd\ufffd\ufffd\ufffd'],
  ['&#150;&#x80;', '–€'],
  ['&amp;lt;', '&lt;'],
])('references in %j are read as %j', (text, decoded) => expect(decodeEntities(text)).toBe(decoded))
