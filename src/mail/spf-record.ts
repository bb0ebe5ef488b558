/** Whether the text is an SPF record (RFC 7208 §4.5). */
export function isSpf(text: string): boolean {
  return /^v=spf1(?: |$)/i.test(text)
}

/** SPF records of one name, and mechanisms to add → one merged record: all mechanisms, ours first, and the first
 *  record's `all` term (`~all` if none has one). Two SPF records at one name are an error for receivers (RFC 7208
 *  §4.5). */
export function mergedSpf(records: readonly string[], ...mechanisms: readonly string[]): string {
  const terms = records.flatMap((record) => record.trim().split(/\s+/).slice(1))
  const isEnd = (term: string) => /^[-~?+]?all$|^redirect=/i.test(term)
  const end = terms.find(isEnd) ?? '~all'
  return ['v=spf1', ...new Set([...mechanisms, ...terms.filter((term) => !isEnd(term))]), end].join(' ')
}
