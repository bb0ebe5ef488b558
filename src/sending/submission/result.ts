import type { RecipientType } from '../../model/delivery.ts'
import type { DeliveryStatus, Message } from '../../model/message.ts'
import type { Refusal } from '../../model/refusal.ts'
import type { Remember } from '../../storage/store.ts'

export interface Accepted {
  message: Message
  recipients: { email: string; type: RecipientType; status: DeliveryStatus }[]
}

export type SubmissionResult = Accepted | Refusal

/** What is about to be answered → the record to write with it, if any. */
export type MakeRecord<T> = (answer: T) => Remember | undefined
