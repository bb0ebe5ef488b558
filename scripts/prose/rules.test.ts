import { describe, expect, test } from 'bun:test'
import { createProgram } from '../../src/cli/program.ts'
import {
  allTexts,
  errorMessages,
  fromCommands,
  fromMarkdownText,
  fromOpenApi,
  fromSource,
  interfaceTexts,
} from './extract.ts'
import { faultsIn, MOST_WORDS } from './rules.ts'

const rulesOf = async (text: string) => (await faultsIn(text)).map(({ rule }) => rule)

describe('the prose check', () => {
  test('accepts plain text', async () => {
    expect(
      await faultsIn('Postrider retries after 60 s. The key is bound to a domain and is shown only once.'),
    ).toEqual([])
  })

  test.each([
    ['passive', 'The webhook is told of the event by the server.'],
    ['passive', 'The event is written to the log.'],
    ['banned', 'Whoever has the key can send.'],
    ['banned', 'The server answers in clear.'],
    ['banned', 'The text is no JSON.'],
    ['banned', 'The server opens the connection anew.'],
    ['banned', 'The address bounces soft.'],
    ['banned', 'The server uses the own host name.'],
    ['repeated', 'The server sends the the message.'],
    ['spelling', 'The server recieves a message.'],
    ['length', `The server sends ${'one message and '.repeat(9)}nothing.`],
  ] as const)('finds a fault of the rule "%s" in %j', async (rule, text) => {
    expect(await rulesOf(text)).toContain(rule)
  })

  test.each(['There is no limit.', 'The key is no longer valid.'])('accepts %j', async (text) => {
    expect(await faultsIn(text)).toEqual([])
  })

  test(`allows sentences of ${MOST_WORDS} words`, async () => {
    expect(await rulesOf(`Send ${'one message or '.repeat(9)}.`)).not.toContain('length')
  })
})

describe('the texts to check', () => {
  test('include paragraphs and table cells of Markdown, without code', () => {
    const texts = fromMarkdownText(
      'a.md',
      '# Send\n\nSet `http.listen`\nfirst.\n\n| a | b |\n|---|---|\n| one | `x` two |\n',
    )
    expect(texts).toEqual([
      { place: 'a.md:1', text: 'Send' },
      { place: 'a.md:3', text: 'Set X first.' },
      { place: 'a.md:6', text: 'a' },
      { place: 'a.md:6', text: 'b' },
      { place: 'a.md:8', text: 'one' },
      { place: 'a.md:8', text: 'X two' },
    ])
  })

  test('include the descriptions of all commands and options', () => {
    const places = fromCommands(createProgram(() => {})).map(({ place }) => place)
    expect(places).toContain('postrider backup')
    expect(places).toContain('postrider webhook replay --from')
  })

  test('include descriptions and summaries of an OpenAPI document, without examples', () => {
    const document = {
      summary: 'Send a message',
      paths: [{ description: 'Sends it.', example: { description: 'no' } }],
    }
    expect(fromOpenApi(document).map(({ text }) => text)).toEqual(['Send a message', 'Sends it.'])
  })

  test('include labels and text of the dashboard, also in conditions and templates', () => {
    const template = '`$' + '{n} sent messages`'
    const source = `const a = <p title="Due messages">Your keys {n ? ${template} : "no messages"}</p>`
    const texts = fromSource('a.tsx', source, interfaceTexts).map(({ text }) => text)
    expect(texts.toSorted()).toEqual(['Due messages', 'X sent messages', 'Your keys', 'no messages'])
  })

  test('include all texts of a server module except SQL, and each line of a table', () => {
    const name = '$' + '{name}'
    const source = `
      const found = db.prepare('select id from keys where name = ?')
      const HINTS = { E1: 'connection refused', E2: 'refused' }
      log.warn('message deferred', { error })
      const words = () => isLate ? 'timed out' : \`unknown queue ${name}\`
      const last = () => end(\`id: ${name}\`, \`choose one\\n   run it   send all\`)`
    expect(fromSource('a.ts', source, allTexts).map(({ text }) => text)).toEqual([
      'connection refused',
      'message deferred',
      'timed out',
      'unknown queue X',
      'choose one',
      'run it send all',
    ])
  })

  test('include the messages of errors', () => {
    const template = '`unknown field $' + '{name}`'
    const source = `throw new Refusal('not_found', 'message not found', { message: ${template} })`
    expect(fromSource('a.ts', source, errorMessages).map(({ text }) => text)).toEqual([
      'message not found',
      'unknown field X',
    ])
  })
})
