/** Tone of a status. Chips show it with a mark and a colour. */
export type Tone = 'good' | 'warn' | 'bad' | 'calm' | 'quiet'

/** Marks of the tones, for users who cannot distinguish the colours. */
export const MARKS: Record<Tone, string> = { good: '✓', warn: '!', bad: '✕', calm: '→', quiet: '·' }

/** Tones of the API's statuses. All others are quiet. */
const TONES: Record<string, Tone> = {
  delivered: 'good',
  verified: 'good',
  valid: 'good',
  active: 'good',
  pass: 'good',
  enabled: 'good',
  confirmed: 'good',
  accepted: 'calm',
  queued: 'calm',
  scheduled: 'calm',
  opened: 'calm',
  clicked: 'calm',
  pending: 'calm',
  live: 'calm',
  deferred: 'warn',
  partial: 'warn',
  softbounce: 'warn',
  paused: 'warn',
  retiring: 'warn',
  stopped: 'warn',
  warn: 'warn',
  warning: 'warn',
  mismatch: 'warn',
  softfail: 'warn',
  suppressed: 'warn',
  unsubscribed: 'warn',
  bounced: 'bad',
  complained: 'bad',
  failed: 'bad',
  fail: 'bad',
  firing: 'bad',
  missing: 'bad',
  revoked: 'bad',
  expired: 'bad',
}

/** A status: `<Chip word="delivered" />` shows "Delivered". Set `tone` if the word does not determine it. */
export function Chip({ word, tone = TONES[word] ?? 'quiet' }: { word: string; tone?: Tone | undefined }) {
  return (
    <span class={`chip ${tone}`} data-mark={MARKS[tone]}>
      {LABELS[word] ?? labelOf(word)}
    </span>
  )
}

const LABELS: Record<string, string> = { softbounce: 'Soft bounce' }
const labelOf = (word: string) => `${word.charAt(0).toUpperCase()}${word.slice(1).replaceAll('_', ' ')}`

/** Tone of a status of the API. */
export function toneOf(word: string): Tone {
  return TONES[word] ?? 'quiet'
}
