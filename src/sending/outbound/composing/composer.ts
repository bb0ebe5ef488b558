import { NO_RECIPIENT_PARTS, type RecipientParts } from '../../../mail/recipient-parts.ts'
import { Refusal } from '../../../model/refusal.ts'
import { PoisonousJob, type ThreadPool } from '../../../os/thread-pool.ts'
import type { SigningKey, Unprepared } from '../job.ts'

/** Job for a composing thread; plain data. */
export type ComposeJob = Unprepared & { content: Uint8Array }

/** Content and recipient parts → the signed mail as its recipient gets it. Refuses with `invalid_state` a mail that
 *  twice exceeds its thread's time; rejects when it cannot be composed. */
export function createComposer(
  pool: ThreadPool<ComposeJob, Uint8Array>,
): (
  content: Uint8Array,
  signingKeys: SigningKey[],
  signedAt: number,
  recipientParts?: RecipientParts,
) => Promise<Uint8Array> {
  return async (content, signingKeys, signedAt, recipientParts = NO_RECIPIENT_PARTS) => {
    try {
      return await pool.run({ content, signingKeys, signedAt, recipientParts })
    } catch (error) {
      if (!(error instanceof PoisonousJob)) throw error
      throw new Refusal('invalid_state', 'The message took too long to prepare. Make its HTML simpler or smaller.', {
        details: { reason: 'took_too_long' },
      })
    }
  }
}
