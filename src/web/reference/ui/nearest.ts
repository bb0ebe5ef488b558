import { editDistance } from '../../../config/suggest.ts'

const MOST_CHARACTERS = 60

/** A wrong name and the right ones → the three that it means most likely, best first: those with the most of its parts,
 *  and of these the ones with the fewest different letters. */
export function nearest(wrong: string, names: readonly string[]): string[] {
  const given = wrong.toLowerCase().slice(0, MOST_CHARACTERS)
  const parts = given.split(/[^\p{L}\p{N}]+/u).filter((part) => part.length > 2)
  const rate = (name: string) => {
    const shared = parts.filter((part) => name.includes(part)).length
    return editDistance(given, name) - 4 * shared
  }
  return names
    .map((name) => ({ name, rating: rate(name.slice(0, MOST_CHARACTERS)) }))
    .sort((a, b) => a.rating - b.rating)
    .slice(0, 3)
    .map(({ name }) => name)
}
