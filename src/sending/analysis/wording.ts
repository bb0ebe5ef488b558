/** True if a text of at least that many letters is mostly in capitals. Never true for scripts without capitals. */
export function isShouting(text: string, fewestLetters: number): boolean {
  let upper = 0
  let lower = 0
  for (const letter of text.slice(0, MOST)) {
    if (letter === letter.toLowerCase()) lower += letter === letter.toUpperCase() ? 0 : 1
    else upper++
  }
  return upper + lower >= fewestLetters && upper > (upper + lower) * 0.7
}

/** Number of emoji in a text; a sequence counts once. */
export function emojiIn(text: string): number {
  return text.match(EMOJI)?.length ?? 0
}

/** Distinct words of four letters and more, in lower case. */
export function longWordsOf(text: string): Set<string> {
  return new Set(text.slice(0, MOST).toLowerCase().match(LONG_WORD) ?? [])
}

export function countWords(text: string): number {
  return text.match(WORD)?.length ?? 0
}

const MOST = 200_000 // ours: enough to judge by
const EMOJI =
  /(?:\p{Regional_Indicator}{2}|\p{Extended_Pictographic}(?:\ufe0f|\p{Emoji_Modifier})?(?:\u200d\p{Extended_Pictographic}\ufe0f?){0,8})/gu
const LONG_WORD = /\p{L}{4,40}/gu
const WORD = /[\p{L}\p{N}]+/gu
