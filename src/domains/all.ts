import type { Domain } from '../model/domain.ts'
import type { Store } from '../storage/store.ts'

const PAGE = 100

/** Every domain of every organization, read in pages. */
export async function* allDomains(store: Pick<Store, 'organizations' | 'domains'>): AsyncGenerator<Domain> {
  for (const { id } of await store.organizations.list()) {
    for (let after: string | null = null; ; ) {
      const page = await store.domains.list(id, { limit: PAGE, after })
      yield* page.records
      if (!page.hasMore) break
      after = page.records.at(-1)?.id ?? after
    }
  }
}
