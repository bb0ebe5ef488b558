import { createPublicKey } from 'node:crypto'
import type { DNSResolver } from 'mailauth'
import { createKeyCache, toALabel } from 'mailauth/lib/tools'

/** Resolver → the public keys of one mail as mailauth asks for them, each record asked for once. What a record says is read
 *  once in this thread, for as long as the DNS says the same: reading one costs more than the signature that it proves. A
 *  record of which no key can be made is read each time. */
export function rememberedKeys(resolver: DNSResolver): KeyCache {
  const asked = new Map<string, Promise<KeyAnswer>>()
  return {
    resolver,
    get: (type, name, minBitLength, options) => {
      const use = `${options.strict} ${minBitLength} ${options.hashAlgo} ${name}`
      const known = asked.get(use)
      if (known !== undefined) return known
      const answer = keyOf(resolver, use, { type, name, minBitLength, options })
      answer.catch(() => {}) // asked for ahead; whoever waits hears of it
      asked.set(use, answer)
      return answer
    },
  }
}

interface Question {
  type: string
  name: string
  minBitLength: number | undefined
  options: { strict: boolean; hashAlgo: string }
}

async function keyOf(resolver: DNSResolver, use: string, question: Question): Promise<KeyAnswer> {
  const { type, name, minBitLength, options } = question
  const records = await resolver(toALabel(name), 'TXT')
  const said = `${use} ${JSON.stringify(records[0])}`
  const known = read.get(said)
  if (known !== undefined) {
    read.delete(said)
    read.set(said, known)
    return known
  }
  const answer = await createKeyCache(async () => records).get(type, name, minBitLength, options)
  const key = { ...answer, publicKey: createPublicKey(answer.publicKey as string) }
  if (read.size >= MAX_KEYS) read.delete(read.keys().next().value!)
  read.set(said, key)
  return key
}

/** By what was asked and what the DNS said; those used last at the end. About 3 KB each. */
const read = new Map<string, KeyAnswer>()
const MAX_KEYS = 1_000
