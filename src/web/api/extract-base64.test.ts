import { describe, expect, test } from 'bun:test'
import { extractBase64 } from './extract-base64.ts'

const PATH = ['attachments', '*', 'content']
const BYTES = Buffer.alloc(2_500_001, 'attached')
const LARGE = BYTES.toString('base64')

async function extracted(json: string) {
  const { json: rest, put } = await extractBase64(Buffer.from(json), PATH)
  const text = Buffer.from(rest).toString()
  const value = () => {
    const value = JSON.parse(text)
    put(value)
    return value
  }
  return { text, value }
}

describe('large base64', () => {
  test('is taken out of the JSON, and put back as bytes where bytes are expected', async () => {
    const body = {
      subject: 's',
      attachments: [
        { filename: 'a', content: LARGE },
        { content: 'aGk=' },
        { content: `data:image/png;base64,${LARGE}` },
      ],
    }
    const { text, value } = await extracted(JSON.stringify(body, null, 1))
    expect(text.length).toBeLessThan(500)
    const { subject, attachments } = value()
    expect(subject).toBe('s')
    expect(Buffer.from(attachments[0].content).equals(BYTES)).toBe(true)
    expect(attachments[1].content).toBe('aGk=')
    expect(Buffer.from(attachments[2].content).equals(BYTES)).toBe(true)
  })

  test.each([
    { variables: { content: LARGE } },
    { variables: { attachments: [{ content: LARGE }] } },
    { attachments: { content: LARGE } },
    { attachments: [[{ content: LARGE }]] },
    { content: [LARGE], attachments: [{ 'x"content': LARGE, '\\content': LARGE }] },
  ])('is put back as text at any other path', async (body) => {
    const { value } = await extracted(JSON.stringify(body))
    expect(value()).toEqual(body)
  })

  test.each([
    ['not of whole groups', LARGE.slice(0, -1)],
    ['without its padding', `${LARGE.slice(0, -4)}AA==${LARGE.slice(0, 4)}`],
    ['padded within', `${'A'.repeat(2 ** 20 - 4)}AA==${LARGE}`],
    ['with a letter of another alphabet', `-${LARGE.slice(1)}`],
    ['with an escape', `${LARGE}\\n`],
    ['with a letter beyond ASCII', `${LARGE.slice(4)}ÁÁ`],
    ['with unused bits set', `${LARGE.slice(0, -4)}AB==`],
  ])('stays in the JSON when it is %s', async (_, content) => {
    const json = `{"attachments":[{"content":"${content}"}]}`
    const { text } = await extracted(json)
    expect(text === json).toBe(true)
  })

  test.each([
    '{"attachments":[{"content":"',
    '{"attachments":[{"content" "',
    `{"attachments":[{"content":"${LARGE}`,
    `{"attachments":[{"content":"${LARGE}"`,
    `{"attachments":[{"content":"${LARGE}""content":"${LARGE}"}]}`,
  ])('leaves faults to the parser', async (json) => {
    const { value } = await extracted(json)
    expect(value).toThrow(SyntaxError)
  })

  test('cannot be referenced by the placeholder of another request', async () => {
    const { text } = await extracted(JSON.stringify({ attachments: [{ content: LARGE }] }))
    const mark = JSON.parse(text).attachments[0].content
    const { value } = await extracted(JSON.stringify({ attachments: [{ content: LARGE }, { content: mark }] }))
    expect(value().attachments[1].content).toBe(mark)
  })
})
