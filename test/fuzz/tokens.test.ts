import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createTrackingLinks } from '../../src/mail/tracking-link.ts'
import { createVerp } from '../../src/mail/verp.ts'
import { Refusal } from '../../src/model/refusal.ts'
import { createMintId, isId } from '../../src/os/ids.ts'
import { systemRandom } from '../../src/os/random.ts'
import { createAuth, mintKeyValue } from '../../src/web/api/authentication.ts'
import { feedCursor, pageRequest, pageResponse } from '../../src/web/api/page.ts'
import { runs } from './runs.ts'

/** Return paths, cursors and links: ours round-trip, everything else is invalid. */

const binary = fc.string({ unit: 'binary', maxLength: 400 })

describe('tokens', () => {
  const verp = createVerp(new Uint8Array(32).fill(7))
  const mintId = createMintId({ now: () => 1_795_262_400_000, sleep: async () => {} }, systemRandom)

  test('a return path round-trips in any letter case, and no other text is one', () => {
    const local = verp.encode(mintId('dlv'), 'bounce')
    const letters = '0123456789abcdefghjkmnpqrstvwxyz-'
    const change = fc.tuple(fc.nat(local.length - 1), fc.constantFrom(...letters))
    const run = fc.property(change, ([at, letter]) => {
      const id = mintId('dlv')
      const encoded = verp.encode(id, 'bounce')
      expect(verp.decode(encoded.toUpperCase())).toEqual({ kind: 'bounce', deliveryId: id })
      const forged = encoded.slice(0, at) + letter + encoded.slice(at + 1)
      expect(verp.decode(forged)).toEqual(forged === encoded ? { kind: 'bounce', deliveryId: id } : null)
    })
    fc.assert(run, runs({ target: 'tokens', property: 'return-path' }, 1_000, 14))
    fc.assert(
      fc.property(binary, (text) => expect(verp.decode(text)).toBeNull()),
      runs({ target: 'tokens', property: 'no-return-path' }, 1_000, 15),
    )
  })

  test('a cursor of the API is read, any other text is refused', () => {
    const run = fc.property(binary, (text) => {
      expect(() => pageRequest({ limit: 1, cursor: text })).toThrow(Refusal)
      try {
        expect(feedCursor(text)).toBeNull()
      } catch (error) {
        expect(error).toBeInstanceOf(Refusal)
      }
    })
    fc.assert(run, runs({ target: 'tokens', property: 'no-cursor' }, 1_000, 16))
    const id = mintId('msg')
    const page = pageResponse({ records: [{ id }], hasMore: true }, (record) => record)
    expect(pageRequest({ limit: 1, cursor: cursorOf(page) }).after).toBe(id)
    expect(isId('msg', id)).toBe(true)
  })

  test('a cursor with one changed letter is refused, or is another id', () => {
    const page = pageResponse({ records: [{ id: mintId('msg') }], hasMore: true }, (record) => record)
    const cursor = cursorOf(page)
    const run = fc.property(fc.nat(cursor.length - 1), fc.string({ minLength: 1, maxLength: 1 }), (at, letter) => {
      try {
        const { after } = pageRequest({ limit: 1, cursor: cursor.slice(0, at) + letter + cursor.slice(at + 1) })
        expect(after).toMatch(/^[a-z]{3}_[0-9a-z]{26}$/)
      } catch (error) {
        expect(error).toBeInstanceOf(Refusal)
      }
    })
    fc.assert(run, runs({ target: 'tokens', property: 'changed-cursor' }, 1_000, 17))
  })

  test('a link of ours has the meaning it was made for, and no other does', () => {
    const links = createTrackingLinks(new Uint8Array(32).fill(9), { host: 'links.a.example', organizationId: 'org_1' })
    const id = mintId('dlv')
    const made = [links.open(id), links.unsubscribe(id), links.click(id, 'https://a.example/?b=c&d=\u00fc')]
    const change = fc.record({ which: fc.nat(2), at: fc.nat(200), length: fc.nat(2), put: fc.string({ maxLength: 3 }) })
    const run = fc.property(fc.oneof(change, binary), (given) => {
      if (typeof given === 'string') return expect(links.read(given)).toBeNull()
      const link = made[given.which]!
      const at = given.at % link.length
      const forged = link.slice(0, at) + given.put + link.slice(at + given.length)
      if (!made.includes(forged)) expect(links.read(forged)).toBeNull()
    })
    for (const link of made) expect(links.read(link)?.deliveryId).toBe(id)
    fc.assert(run, runs({ target: 'tokens', property: 'links' }, 1_000, 25))
  })

  test('an unknown key is refused, in one way', () => {
    const asked: number[] = []
    const auth = createAuth({
      snapshot: {
        apiKeyBySecret: (hash: Uint8Array) => {
          asked.push(hash.length)
          return null
        },
      },
      apiKeys: { recordUse: async () => {} },
    } as never)
    const key = mintKeyValue('live', systemRandom)
    const edited = fc.tuple(fc.nat(60), binary).map(([at, text]) => `Bearer ${key.slice(0, at)}${text}`)
    const run = fc.property(
      fc.oneof(edited, binary, fc.constantFrom(null, '', 'Bearer ', `bearer   ${key}`)),
      (header) => {
        expect(() => auth.authenticate(header, 0, () => '')).toThrow('Missing or invalid API key')
        expect(asked.splice(0).every((bytes) => bytes === 32)).toBe(true)
      },
    )
    fc.assert(run, runs({ target: 'tokens', property: 'keys' }, 1_000, 26))
  })
})

const cursorOf = (page: { body: unknown }) => (page.body as { next_cursor: string }).next_cursor
