import { expect, test } from 'bun:test'
import { parseMailbox } from '../../mail/address.ts'
import { collapseRecipients } from './recipients.ts'

function addresses(...texts: string[]) {
  return { asSent: texts, mailboxes: texts.map((text) => parseMailbox(text)!) }
}

function collapsed(fields: Parameters<typeof collapseRecipients>[0]) {
  return collapseRecipients(fields).map(({ mailbox, type }) => `${type} ${mailbox.address}`)
}

test('gives each recipient one delivery in the order of to, cc, bcc', () => {
  const fields = {
    bcc: addresses('d@x.example'),
    cc: addresses('c@x.example'),
    to: addresses('b@x.example', 'a@x.example'),
  }
  expect(collapsed(fields)).toEqual(['to b@x.example', 'to a@x.example', 'cc c@x.example', 'bcc d@x.example'])
})

test('keeps the first of equal addresses, whatever their letter case, name and form of domain', () => {
  const fields = {
    to: addresses('Ann <Ann@bücher.example>', 'ann@xn--bcher-kva.example'),
    cc: addresses('ANN@Bücher.Example', 'bob@x.example'),
    bcc: addresses('Bob <BOB@x.example>'),
  }
  expect(collapsed(fields)).toEqual(['to Ann@xn--bcher-kva.example', 'cc bob@x.example'])
})

test('returns no recipients for empty fields', () => {
  expect(collapsed({})).toEqual([])
  expect(collapsed({ to: addresses(), cc: null })).toEqual([])
})
