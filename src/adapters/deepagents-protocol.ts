/** What a {@link DeepagentsBackend} answers, as deepagents' `BackendProtocolV2` has it: an `error`, or the rest. */

export interface DeepagentsFileInfo {
  path: string;
  is_dir: boolean;
  /** Bytes. */
  size: number;
  /** ISO 8601. */
  modified_at: string;
}

export interface DeepagentsFiles {
  error?: string;
  files?: DeepagentsFileInfo[];
  /** Some of what was asked about could not be looked at. */
  truncated?: boolean;
}

export interface DeepagentsRead {
  error?: string;
  /** Lines of a text file, or all bytes of another. */
  content?: string | Uint8Array;
  mimeType?: string;
  totalLines?: number;
  /** Counted from 1. */
  startLine?: number;
  /** Counted from 1. */
  endLine?: number;
  /** Counted from 0; absent at the end of the file. */
  nextOffset?: number;
}

export interface DeepagentsRawRead {
  error?: string;
  data?: { content: string | Uint8Array; mimeType: string; created_at: string; modified_at: string };
}

export interface DeepagentsMatches {
  error?: string;
  matches?: { path: string; line: number; text: string }[];
  /** Some of what was asked about could not be looked at, or there are more matches than asked for. */
  truncated?: boolean;
}

export interface DeepagentsDownload {
  path: string;
  content: Uint8Array | null;
  error: 'file_not_found' | 'permission_denied' | 'is_directory' | 'invalid_path' | null;
}

export interface DeepagentsRefusal {
  error: string;
}

/** Fits deepagents' `BackendProtocolV2`. */
export interface DeepagentsBackend {
  ls(path: string): Promise<DeepagentsFiles>;
  read(path: string, offset?: number, limit?: number): Promise<DeepagentsRead>;
  readRaw(path: string): Promise<DeepagentsRawRead>;
  grep(
    pattern: string,
    path?: string | null,
    glob?: string | null,
    maxCount?: number | null,
  ): Promise<DeepagentsMatches>;
  glob(pattern: string, path?: string): Promise<DeepagentsFiles>;
  downloadFiles(paths: string[]): Promise<DeepagentsDownload[]>;
  write(path: string): Promise<DeepagentsRefusal>;
  edit(path: string): Promise<DeepagentsRefusal>;
  delete(path: string): Promise<DeepagentsRefusal>;
  uploadFiles(files: [string, Uint8Array][]): Promise<{ path: string; error: 'permission_denied' }[]>;
}
