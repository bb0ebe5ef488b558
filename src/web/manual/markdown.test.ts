import { describe, expect, test } from 'bun:test'
import { createAnchors, readPage } from './markdown.ts'
import { find } from './ui/find.ts'

const PAGE = `# Title

What it is.

<!-- runs: 200 -->
\`\`\`sh
echo "<b>"
\`\`\`

## One \`code\` & more

Text with [a link](tls.md#renewal), [a source](../outbound/outcome.ts) and <https://example.com>.

- first
- second **bold**

| Name | Meaning |
|---|---|
| \`a\` | b \\| c |

## Twice

## Twice
`

describe('a page of the manual', () => {
  const page = readPage('page', PAGE)

  test('has title, summary and sections with anchors that do not repeat', () => {
    expect([page.title, page.summary]).toEqual(['Title', 'What it is.'])
    expect(page.sections.map(({ anchor, heading }) => [anchor, heading])).toEqual([
      ['', 'Title'],
      ['one-code--more', 'One code & more'],
      ['twice', 'Twice'],
      ['twice-1', 'Twice'],
    ])
  })

  test('links to other pages by their path on the server, and shows source files as text', () => {
    expect(page.html).toContain('<a href="tls#renewal">a link</a>')
    expect(page.html).toContain('a source and')
    expect(page.html).toContain('<h2 id="one-code--more">')
  })

  test('escapes code and hides comments', () => {
    expect(page.html).toContain('echo &#34;&#60;b&#62;&#34;')
    expect(page.html).not.toContain('<!--')
  })

  test('is plain text for a terminal', () => {
    expect(page.text).toContain(
      'Title\n\n  What it is.\n\n    echo "<b>"\n\nOne code & more\n\n  Text with a link [tls]',
    )
    expect(page.text).toContain('  - first\n  - second bold')
    expect(page.text).toContain('  a\n      b | c')
  })

  test('refuses raw HTML', () => {
    expect(() => readPage('page', '# Title\n\nText\n\n<script>1</script>\n')).toThrow('raw HTML')
  })

  test.each([
    '> quoted',
    '*slanted*',
    '- [ ] to do',
    '***',
    '~~gone~~',
    '![x](https://elsewhere.example/x.png)',
    '![x](javascript:x.png)',
    '- a\n\n  > quoted in a list',
  ])('refuses what the manual does not use: %p', (markdown) => {
    expect(() => readPage('page', `# Title\n\nText\n\n${markdown}\n`)).toThrow('is not supported in the manual')
  })

  test('has no link to a scheme other than HTTP', () => {
    const { html } = readPage('page', '# Title\n\n[a](javascript:alert(1)) [b](data:text/html,x) [c](//x.example)\n')
    expect(html).toContain('<p>a b c</p>')
  })
})

test('an anchor is that of GitHub', () => {
  const anchorOf = createAnchors()
  expect(['1. Install', 'A, b: c?', 'a_b-c'].map(anchorOf)).toEqual(['1-install', 'a-b-c', 'a_b-c'])
})

describe('the search', () => {
  const index = [
    ['tls', 'HTTPS and certificates', 'HTTPS and certificates', 'certificate files'],
    [
      'tls#renewal',
      'HTTPS and certificates',
      'Renewal',
      `${'x '.repeat(200)}renews the certificate early ${'y '.repeat(200)}`,
    ],
    ['dns', 'DNS', 'DNS', 'records'],
  ] as [string, string, string, string][]

  test('finds sections that have every word, headings first', () => {
    expect(find('certificate', index).map(({ path }) => path)).toEqual(['tls', 'tls#renewal'])
    expect(find('RENEW certificate', index).map(({ path }) => path)).toEqual(['tls#renewal'])
    expect(find('certificate nothing', index)).toEqual([])
    expect(find('  ', index)).toEqual([])
  })

  test('shows the words around the first hit', () => {
    const [{ excerpt } = { excerpt: '' }] = find('renews', index)
    expect(excerpt).toContain('renews the certificate')
    expect(excerpt).toMatch(/^… x .+ y …$/)
    expect(excerpt.length).toBeLessThan(260)
  })
})
