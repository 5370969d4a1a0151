/** The columns of the whole database whose values are sealed under the root key. */

export { sealedColumns } from './columns.ts'
