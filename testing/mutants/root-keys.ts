import { edit, type Mutant, proof } from './mutant.ts'

const rotate = 'src/custody/root-key/rotate.ts'
const wrapped = 'src/custody/root-key/wrapped.ts'
const rotation = proof('src/custody/root-key/rotate.test.ts', 'property 285')
const service = proof('src/custody/root-key/wrapped.test.ts', 'property 292: the root key moves')

/** Versions of the root key: bugs here lose what was sealed, or leave it open to a key that leaked. */
export const rootKeyMutants: readonly Mutant[] = [
  {
    name: 'process-without-new-root-key',
    about: 'a rotation begins while a process that runs lacks the new root key',
    edits: [
      edit(rotate, 'if (lacking().length > 0) throw lackingHolders(lacking(), next)', 'void lackingHolders'),
    ],
    test: rotation,
  },
  {
    name: 'silent-process-overlooked',
    about: 'a rotation begins while a process of another release is connected',
    edits: [edit(rotate, 'if (silent.length > 0)', 'if (silent.length > 1_000)')],
    test: rotation,
  },
  {
    name: 'closed-root-key-signs-heads',
    about: 'a process that slept through a rotation signs heads of audit trails with the old root key',
    edits: [
      edit(
        'src/custody/installation/audit-signer.ts',
        'if (!(await holdRootKey(tx, sealHeadOf(newest.version)))) throw new RootKeyClosed(newest.version)',
        'await holdRootKey(tx, sealHeadOf(newest.version)); void RootKeyClosed',
      ),
    ],
    test: rotation,
  },
  {
    name: 'wallet-key-without-outer-layer',
    about: 'new wallet keys are not sealed under the new root key after a rotation',
    edits: [
      edit(
        'src/custody/sealing/sealing.ts',
        'return key.outer.newest().version === 1 ? inner : seal(key.outer, layerOf(context), inner)',
        'return inner',
      ),
    ],
    test: rotation,
  },
  {
    name: 'first-root-key-forgotten',
    about: 'wallet keys are derived from another version of the root key than the first',
    edits: [
      edit(
        'src/custody/root-key/open.ts',
        'vaultOf(root, versions.find(({ version }) => version === 1)!)',
        'vaultOf(root, root.newest())',
      ),
    ],
    test: rotation,
  },
  {
    name: 'unwrapped-key-unchecked',
    about: 'whatever a key service unwraps is used as the root key',
    edits: [
      edit(
        wrapped,
        'if (rootKey.length === rootKeyBytes && rootCheckValueOf(rootKey).equals(checkValue)) return rootKey',
        'if (rootKey.length === rootKeyBytes) return rootKey',
      ),
    ],
    test: service,
  },
  {
    name: 'key-service-asked-again',
    about: 'a process asks its key service again and again for versions that it has',
    edits: [
      edit(
        'src/custody/root-key/open.ts',
        '(row) => isWrappedAlone(row, []) && versions.every(({ version }) => version !== row.version)',
        '(row) => isWrappedAlone(row, [])',
      ),
    ],
    test: service,
  },
  {
    name: 'wrapped-for-any-context',
    about: 'a wrapped root key opens for another version',
    edits: [
      edit(
        'src/custody/key-services/vault.ts',
        "associated_data: bytesOfContext(context).toString('base64')",
        "associated_data: bytesOfContext({}).toString('base64'), ...(context && {})",
      ),
    ],
    test: proof('src/custody/key-services/key-services.test.ts', 'property 291: Vault'),
  },
]
