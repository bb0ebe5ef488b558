import dictionary from 'dictionary-en'
import retextEnglish from 'retext-english'
import retextPassive from 'retext-passive'
import retextRepeatedWords from 'retext-repeated-words'
import retextSpell from 'retext-spell'
import retextStringify from 'retext-stringify'
import { unified } from 'unified'
import { ACCEPTED_PARTICIPLES, ACCEPTED_PHRASES, BANNED, WORDS } from './words.ts'

export const MOST_WORDS = 28

export interface Fault {
  rule: 'passive' | 'length' | 'banned' | 'repeated' | 'spelling'
  message: string
}

/** The part of an nlcst node that the length rule needs. */
interface Node {
  type: string
  value?: string
  children?: Node[]
}

const processor = unified()
  .use(retextEnglish)
  .use(retextPassive, { ignore: [...ACCEPTED_PARTICIPLES.keys()] })
  .use(retextRepeatedWords)
  // `max` limits the search for suggestions, which is slow.
  .use(retextSpell, { dictionary, personal: WORDS.join('\n'), ignoreDigits: true, ignoreLiteral: true, max: 1 })
  .use(retextStringify)

const isAccepted = (participle: string, text: string) =>
  [...ACCEPTED_PHRASES.keys()].some((phrase) => phrase.startsWith(participle) && text.includes(phrase))

/** MX, DKIM, SHA-256, CAs; also words with the placeholder: mta-X, Xs. */
const ACRONYM = /^[A-Z][A-Z0-9-]*s?$|X$/

/** Checks plain English text; returns every fault. */
export async function faultsIn(text: string): Promise<Fault[]> {
  const file = await processor.process(text)
  const faults = file.messages.flatMap(({ source, actual = '' }): Fault[] => {
    if (source === 'retext-passive' && isAccepted(actual, text)) return []
    if (source === 'retext-passive') return [{ rule: 'passive', message: `passive voice: "${actual}"` }]
    if (source === 'retext-repeated-words') return [{ rule: 'repeated', message: `repeated word: "${actual}"` }]
    return actual === '' || ACRONYM.test(actual) ? [] : [{ rule: 'spelling', message: `unknown word: "${actual}"` }]
  })
  for (const { pattern, use } of BANNED) {
    for (const [found] of text.matchAll(pattern)) faults.push({ rule: 'banned', message: `"${found}": ${use}` })
  }
  for (const sentence of sentencesOf(processor.parse(text) as Node)) {
    const words = nodesOf(sentence, 'WordNode').length
    if (words > MOST_WORDS) faults.push({ rule: 'length', message: `sentence of ${words} words` })
  }
  return faults
}

const sentencesOf = (root: Node) => nodesOf(root, 'SentenceNode')

function nodesOf(node: Node, type: string): Node[] {
  if (node.type === type) return [node]
  return (node.children ?? []).flatMap((child) => nodesOf(child, type))
}
