import { describe, expect, test } from 'bun:test'
import type { Operation, Reference } from '../reference/ui/document.ts'
import { createAnchors, readPage } from './markdown.ts'

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
    expect(page.html).toContain('echo <span class="code-text">&#34;&#60;b&#62;&#34;</span>')
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

describe('a request in the manual', () => {
  const operation = {
    id: 'messages_send',
    method: 'POST',
    path: '/v1/messages/send',
    tag: 'Messages',
    summary: 'Send',
    description: '',
    permission: 'send',
    parameters: [],
    body: { schema: {}, isRequired: true },
    responses: [
      ['202', { description: '', content: { 'application/json': { schema: {}, example: { id: 'msg_1' } } } }],
    ],
  } satisfies Operation
  const reference = { operations: [operation] } as unknown as Reference
  const source = (id: string) =>
    `# A\n\n<!-- request: ${id} -->\n\`\`\`json\n{"to": "<b>"}\n\`\`\`\n\nAnswer:\n\n<!-- answer: ${id} -->\n\nEnd\n`
  const page = readPage('a', source('messages_send'), reference)

  test('is in every language as HTML, of which each can be highlighted', () => {
    const languages = [...page.html.matchAll(/data-language="(\w+)"/g)].map(([, language]) => language)
    expect(languages).toEqual(['curl', 'typescript', 'python', 'php'])
    expect(page.html).toContain('<span class="code-word">curl</span>')
    expect(page.html).not.toContain('<b>')
  })

  test('is curl in a terminal, and every language for programs', () => {
    expect(page.text).toContain('    curl -sS --fail-with-body')
    expect(page.text).not.toContain('import ')
    expect([...page.markdown.matchAll(/^```(\w+)$/gm)].map(([, language]) => language)).toEqual([
      'sh',
      'ts',
      'py',
      'php',
      'json',
    ])
  })

  test('has the answer of the reference', () => {
    expect(page.text).toContain('"id": "msg_1"')
  })

  test('of an operation that does not exist is refused', () => {
    expect(() => readPage('a', source('messages_sned'), reference)).toThrow('messages_sned')
  })
})
