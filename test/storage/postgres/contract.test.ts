import { describeWithPostgres } from '../../support/postgres.ts'
import { postgresBackend } from '../backends.ts'
import { testStoreContract } from '../contract.ts'

describeWithPostgres('the store contract', () => testStoreContract(postgresBackend()))
