import type { KMSClient } from '@aws-sdk/client-kms'
import type { KeyServiceSetting } from '#runtime/key-service-setting'
import { type KeyService, KeyServiceAway, KeyServiceRefused, keyServiceMs } from './key-service.ts'

type AwsSetting = Extract<KeyServiceSetting, { kind: 'aws-kms' }>

/** The package is not installed with the program. */
const loadSdk = () =>
  import('@aws-sdk/client-kms').catch((error: Error) => {
    throw new KeyServiceRefused(
      `a service of aws-kms needs the package @aws-sdk/client-kms, which is not installed with this program: npm install @aws-sdk/client-kms (${error.message.split('\n')[0]})`,
      { cause: error },
    )
  })

/**
 * A symmetric key of AWS KMS. The client finds credentials as all programs of AWS do: in the environment, its files, or the role of the
 * machine. The context is the encryption context, which policies can demand and CloudTrail shows.
 */
export async function openAwsKms({ name, keyArn, region }: AwsSetting): Promise<KeyService> {
  const { KMSClient: Client, EncryptCommand, DecryptCommand } = await loadSdk()
  const client: KMSClient = new Client({ region, maxAttempts: 1 })
  const options = () => ({ abortSignal: AbortSignal.timeout(keyServiceMs) })
  const bytesIn = (field: Uint8Array | undefined) => {
    if (field) return Buffer.from(field)
    throw new KeyServiceAway('an answer without the key')
  }
  return {
    name,
    wrap: (Plaintext, EncryptionContext) =>
      client
        .send(new EncryptCommand({ KeyId: keyArn, Plaintext, EncryptionContext }), options())
        .then(({ CiphertextBlob }) => bytesIn(CiphertextBlob), refuse),
    unwrap: (CiphertextBlob, EncryptionContext) =>
      client
        .send(new DecryptCommand({ KeyId: keyArn, CiphertextBlob, EncryptionContext }), options())
        .then(({ Plaintext }) => bytesIn(Plaintext), refuse),
  }
}

/** Errors by which KMS refuses for good. All others, as throttling and its own failures, pass. */
const refusals: Readonly<Record<string, string>> = {
  AccessDeniedException: 'allow kms:Encrypt and kms:Decrypt for the key',
  CredentialsProviderError: 'give credentials in the environment, a file or the role of the machine',
  DisabledException: 'enable the key',
  ExpiredTokenException: 'renew the credentials',
  IncorrectKeyException: 'it was wrapped with another key',
  IncompleteSignature: 'correct the credentials',
  InvalidCiphertextException: 'it was wrapped with another key or for another context, or changed',
  InvalidClientTokenId: 'correct the credentials',
  InvalidKeyUsageException: 'the key must be one that encrypts and decrypts',
  InvalidSignatureException: 'correct the credentials, or the clock',
  KMSInvalidStateException: 'the key is being deleted, or its material is not there',
  MissingAuthenticationToken: 'give credentials',
  NotFoundException: 'correct the ARN of the key',
  SignatureDoesNotMatch: 'correct the credentials',
  UnrecognizedClientException: 'correct the credentials',
}

function refuse(error: Error): never {
  const remedy = refusals[error.name]
  const text = `${error.name}: ${error.message}`
  if (remedy) throw new KeyServiceRefused(`${text}: ${remedy}`, { cause: error })
  throw new KeyServiceAway(text, { cause: error })
}
