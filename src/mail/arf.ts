/** A complaint of a feedback loop. RFC 5965. */
export interface FeedbackReport {
  /** `abuse`, `fraud`, `virus`, `not-spam`, `other` …: lower-case, as it stands in the report. */
  feedbackType: string
  userAgent: string | null
  /** Return path of the reported mail, without brackets. */
  originalMailFrom: string | null
  originalRecipients: string[]
  arrivalAt: number | null
  /** Header fields of the reported mail, names lower-case, values unfolded; empty when it was left out. */
  originalHeaders: [name: string, value: string][]
}
