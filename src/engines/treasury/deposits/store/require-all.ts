/**
 * Requires that a statement changed all deposits that were found before it. One worker at a time follows the blocks of a chain, under
 * the lock of its feed, so that it finds deposits of all tenants without locking each; had another changed one, nothing is written.
 */
export function requireAll(changed: number, found: readonly unknown[]): void {
  if (changed !== found.length)
    throw new Error(
      `${found.length - changed} of ${found.length} deposits have changed since they were found`,
    )
}
